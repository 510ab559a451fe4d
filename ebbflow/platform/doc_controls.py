"""`tensorflow.tools.docs.doc_controls`: decorators that tell a generator of documentation what to leave out.

There is no such generator here: what they decorate is given back, with the mark TensorFlow's leave on it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _marking(mark: str, meaning: str) -> Callable[[Any], Any]:
    def decorate(obj: Any) -> Any:
        try:
            setattr(obj, mark, None)
        except AttributeError:  # a property, or a builtin
            inner = getattr(obj, "fget", None) or getattr(obj, "__func__", None)
            if inner is not None:
                setattr(inner, mark, None)
        return obj

    decorate.__doc__ = f"Mark what {meaning}."
    return decorate


do_not_generate_docs = _marking("_tf_docs_do_not_document", "has no documentation")
do_not_doc_inheritable = _marking("_tf_docs_do_not_doc_inheritable", "has no documentation in subclasses either")
do_not_doc_in_subclasses = _marking("_tf_docs_do_not_doc_in_subclasses", "has no documentation in subclasses")
for_subclass_implementers = _marking("_tf_docs_tools_for_subclass_implementers", "is for who writes a subclass")
doc_private = _marking("_tf_docs_doc_private", "has documentation though it is private")
doc_in_current_and_subclasses = _marking("_tf_docs_doc_in_current_and_subclasses", "is shown in subclasses too")
