import {containersOf} from '../../../api/pod-containers.js';
import {findMatchingRestartRule} from '../../../api/restart-rules.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import type {ContainerSubject} from './subject.js';

/** Reason of the kubelet for instances that it removed to restart the whole pod. */
const REMOVED = 'RestartingAllContainers';

/** What the restart rules of a container do after its exit; undefined without rules, and while it runs. */
export interface RuleEffect {
  /** Action of the rule that matches the exit code; undefined if none does. */
  readonly action: string | undefined;
  readonly text: string;
}

/** Returns what the restart rules of a container do after its exit. */
export function ruleEffect({spec, exit}: ContainerSubject): RuleEffect | undefined {
  const {restartPolicyRules = [], restartPolicy} = spec ?? {};
  if (exit === undefined || spec === undefined || restartPolicyRules.length === 0) return undefined;
  const code = exit.exitCode;
  const rule = restartPolicy === undefined ? undefined : findMatchingRestartRule(spec, code);
  if (rule === undefined)
    return {action: undefined, text: `no rule of restartPolicyRules matches exit code ${code}`};
  const {operator = 'In', values = []} = rule.exitCodes ?? {};
  return {
    action: rule.action,
    text: `exit code ${code} matches a rule of restartPolicyRules: ${rule.action ?? 'Restart'} if ${operator} ${values.join(', ')}`,
  };
}

/** Returns the cause of an instance that the kubelet removed since another container of the pod exited. */
export function restartedWithPod({exit, snapshot}: ContainerSubject) {
  if (exit?.reason !== REMOVED) return undefined;
  const names = triggersOf(snapshot.pod);
  return {
    rule: 'restarted-with-pod',
    cause: `the kubelet restarted all containers of the pod, as a restart rule of ${names.length === 1 ? 'container' : 'one of the containers'} ${names.join(', ')} demands`,
    tries: [`see why ${names.join(' or ')} exits, and its restartPolicyRules`],
  };
}

/** Returns the containers with a rule that restarts all. */
function triggersOf(pod: Pod): readonly string[] {
  return containersOf(pod)
    .filter(({restartPolicyRules = []}) =>
      restartPolicyRules.some(({action}) => action === 'RestartAllContainers'),
    )
    .map(({name}) => name);
}
