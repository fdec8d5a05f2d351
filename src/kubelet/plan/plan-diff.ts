import type {Pod} from '../../api/v1.js';
import type {Json} from '../../format/json.js';
import {findContainerStatus, type RuntimePodStatus} from '../container/pod-status.js';
import {podRef} from '../container/pod-ref.js';
import type {KubeRuntimeService} from '../container/services.js';
import {differences, type FieldChange} from './diff.js';
import type {PlannedCall} from './planned-call.js';
import {comparable, sentConfig, significant, withoutSecretValues, type ConfigName} from './sent-config.js';

/** How a new sandbox or container differs from the one that is there. */
export interface ConfigDiff {
  /** `sandbox` or `container "web"`. */
  readonly target: string;
  readonly changes: readonly FieldChange[];
}

/** What is there, and what is planned. */
export interface Compared {
  readonly pod: Pod;
  readonly before: Pod;
  readonly runtime: RuntimePodStatus;
  readonly calls: readonly PlannedCall[];
}

/**
 * For every sandbox and container that would be made anew, the fields in which its config differs from what the runtime
 * was sent for the present one: UIDs, addresses and names that are made up each time don't count, and values from
 * Secrets aren't shown. Without what the runtime doesn't keep. Rejects with CriError.
 */
export async function configDiffs(
  runtime: KubeRuntimeService,
  {pod, before, runtime: present, calls}: Compared,
  signal: AbortSignal,
): Promise<readonly ConfigDiff[]> {
  const unimportant = {uids: [pod, before].map((each) => podRef(each).uid), ips: present.ips};
  const diffs: ConfigDiff[] = [];
  for (const {method, request, container} of calls) {
    if (method !== 'RunPodSandbox' && method !== 'CreateContainer') continue;
    const name: ConfigName = container === undefined ? 'PodSandboxConfig' : 'ContainerConfig';
    const sent = await presentConfig(runtime, present, container, signal);
    if (sent === undefined) continue;
    const shown = (config: Json): Json => {
      const masked = container === undefined ? config : withoutSecretValues(config, [before, pod], container);
      return significant(masked, unimportant);
    };
    const config = comparable(name, request['config'] as Readonly<Record<string, unknown>>);
    const changes = differences(shown(sent), shown(config)).filter(isMeant);
    const target = container === undefined ? 'sandbox' : `container "${container}"`;
    if (changes.length > 0) diffs.push({target, changes});
  }
  return diffs;
}

/** Older runtimes don't know this field, and forget it. */
function isMeant({path, before}: FieldChange): boolean {
  return path !== 'image.user_specified_image' || before !== undefined;
}

async function presentConfig(
  runtime: KubeRuntimeService,
  present: RuntimePodStatus,
  container: string | undefined,
  signal: AbortSignal,
): Promise<Json | undefined> {
  if (container === undefined) {
    const [sandbox] = present.sandboxes;
    if (sandbox === undefined) return undefined;
    const {info} = await runtime.podSandboxStatus({podSandboxId: sandbox.id, verbose: true}, {signal});
    return sentConfig('PodSandboxConfig', info);
  }
  const instance = findContainerStatus(present, container);
  if (instance === undefined) return undefined;
  const {info} = await runtime.containerStatus({containerId: instance.id, verbose: true}, {signal});
  return sentConfig('ContainerConfig', info);
}
