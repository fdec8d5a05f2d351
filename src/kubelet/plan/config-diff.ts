import type {Pod} from '../../api/types/v1-pod.js';
import type {Json} from '../../format/json.js';
import type {RuntimePodStatus} from '../contract/runtime-pod-status.js';
import {podRef} from '../contract/pod-ref.js';
import type {KubeRuntimeService} from '../contract/kube-services.js';
import {computeFieldChanges, type FieldChange} from '../sources/field-changes.js';
import type {ConfigDiff} from '../managers/kuberuntime/diff-running-configs.js';
import {readContainerConfig, readSandboxConfig} from '../managers/kuberuntime/running-config.js';
import {targetOf} from './planned-changes.js';
import type {PlannedCall} from './planned-call.js';
import {toComparableConfig, type ConfigName} from '../managers/kuberuntime/config/sent-config.js';
import {hideSecretValues, stripInsignificant} from './shown-config.js';

/** Present and planned state of a pod. */
export interface ConfigComparison {
  readonly pod: Pod;
  readonly before: Pod;
  readonly runtime: RuntimePodStatus;
  readonly calls: readonly PlannedCall[];
}

/** Result of a comparison. */
export interface ComparedConfigs {
  readonly diffs: readonly ConfigDiff[];
  /** Sandbox and containers whose configs are equal. */
  readonly equal: readonly string[];
}

/**
 * Returns, for every sandbox and container that would be recreated, the fields in which its config differs from the
 * config that the runtime received for the present one. Ignores generated UIDs, addresses and names, and hides values
 * from Secrets. Skips configs that the runtime does not report. Rejects with CriError.
 */
export async function diffConfigs(
  runtime: KubeRuntimeService,
  {pod, before, runtime: present, calls}: ConfigComparison,
  signal: AbortSignal,
): Promise<ComparedConfigs> {
  const unimportant = {uids: [pod, before].map((each) => podRef(each).uid), ips: present.ips};
  const diffs: ConfigDiff[] = [];
  const equal: string[] = [];
  for (const {method, request, container} of calls) {
    if (method !== 'RunPodSandbox' && method !== 'CreateContainer') continue;
    const name: ConfigName = container === undefined ? 'PodSandboxConfig' : 'ContainerConfig';
    const sent = await (container === undefined
      ? readSandboxConfig(runtime, present, signal)
      : readContainerConfig(runtime, present, container, signal));
    if (sent === undefined) continue;
    const shown = (config: Json): Json => {
      const masked = container === undefined ? config : hideSecretValues(config, [before, pod], container);
      return stripInsignificant(masked, unimportant);
    };
    const config = toComparableConfig(name, request['config'] as Readonly<Record<string, unknown>>);
    const changes = computeFieldChanges(shown(sent), shown(config)).filter(isIntended);
    const target = targetOf(container);
    if (changes.length > 0) diffs.push({target, changes});
    else equal.push(target);
  }
  return {diffs, equal};
}

/** Reports whether a change is intended. Older runtimes drop this field because they do not know it. */
function isIntended({path, before}: FieldChange): boolean {
  return path !== 'image.user_specified_image' || before !== undefined;
}
