"""The names of metrics: those of TensorFlow 1, which gather in variables of a graph."""

BOTH = ""

V1 = """
[train.confusion]
confusion_matrix_v1 as confusion_matrix math.confusion_matrix
[train.metrics]
metrics.: accuracy false_negatives false_positives mean mean_absolute_error mean_cosine_distance mean_iou
metrics.: mean_per_class_accuracy mean_relative_error mean_squared_error mean_tensor percentage_below precision recall
metrics.: root_mean_squared_error true_negatives true_positives
[train.metrics_ranking]
metrics.: average_precision_at_k precision_at_k precision_at_top_k recall_at_k recall_at_top_k
metrics.: sparse_average_precision_at_k sparse_precision_at_k
[train.metrics_thresholds]
metrics.: auc false_negatives_at_thresholds false_positives_at_thresholds precision_at_thresholds recall_at_thresholds
metrics.: sensitivity_at_specificity specificity_at_sensitivity true_negatives_at_thresholds
metrics.: true_positives_at_thresholds
"""

V2 = """
[train.confusion]
math.confusion_matrix
"""
