"""The names of sessions that look after themselves, and of their hooks."""

_HOOKS = """
[monitored.hooks]
{0}.: CheckpointSaverHook CheckpointSaverListener FeedFnHook FinalOpsHook GlobalStepWaiterHook LoggingTensorHook
{0}.: NanLossDuringTrainingError NanTensorHook ProfilerHook SecondOrStepTimer StepCounterHook StopAtStepHook
{0}.: SummarySaverHook
[monitored.session_run_hook]
{0}.: SessionRunArgs SessionRunContext SessionRunHook SessionRunValues
"""

BOTH = """
"""

V1 = (
    _HOOKS.format("train")
    + """
[monitored.basic_loops]
train.basic_train_loop
[monitored.input_state]
data.experimental.CheckpointInputPipelineHook
[monitored.monitored_session]
train.: ChiefSessionCreator MonitoredSession MonitoredTrainingSession SessionCreator SingularMonitoredSession
train.: WorkerSessionCreator
[monitored.scaffold]
train.Scaffold
[monitored.session_manager]
train.SessionManager
[monitored.supervisor]
train.Supervisor
[monitored.sync_replicas]
train.SyncReplicasOptimizer
"""
)

V2 = """
"""

CONTRIB = """
[monitored.input_state]
contrib.data.CheckpointInputPipelineHook
[monitored.basic_loops]
contrib.training.: StopAfterNEvalsHook SummaryAtEndHook evaluate_once evaluate_repeatedly get_or_create_eval_step train
"""
"""`tf.contrib.training`, at the TF 1 door."""

INSIDE = (
    _HOOKS.format("python.training.basic_session_run_hooks")
    + """
[monitored.hooks]
python.training.basic_session_run_hooks.NeverTriggerTimer
[monitored.session_run_hook]
python.training.session_run_hook.: SessionRunArgs SessionRunContext SessionRunHook SessionRunValues
[monitored.basic_loops]
python.training.basic_loops.basic_train_loop
StopAfterNEvalsHook as python.training.evaluation._StopAfterNEvalsHook
get_or_create_eval_step as python.training.evaluation._get_or_create_eval_step
evaluate_once as python.training.evaluation._evaluate_once
[monitored.monitored_session]
python.training.monitored_session.: ChiefSessionCreator MonitoredSession MonitoredTrainingSession SessionCreator
python.training.monitored_session.: SingularMonitoredSession WorkerSessionCreator
BaseMonitoredSession as python.training.monitored_session._MonitoredSession
CoordinatedSession as python.training.monitored_session._CoordinatedSession
HookedSession as python.training.monitored_session._HookedSession
RecoverableSession as python.training.monitored_session._RecoverableSession
WrappedSession as python.training.monitored_session._WrappedSession
[monitored.scaffold]
python.training.monitored_session.: Scaffold USE_DEFAULT
[monitored.session_manager]
python.training.session_manager.SessionManager
[train.step_counter]
increment_global_step as python.training.training_util._increment_global_step
[monitored.sync_replicas]
python.training.sync_replicas_optimizer.SyncReplicasOptimizer
[monitored.supervisor]
python.training.supervisor.: Supervisor SVStepCounterThread SVSummaryThread SVTimerCheckpointThread
[monitored.worker_context]
WorkerContext as python.distribute.distribute_coordinator._WorkerContext
python.distribute.distribute_coordinator_context.get_current_worker_context
"""
)
"""What `tensorflow.python.training` shows of them."""
