import {ConfigError} from '../../base/errors.js';
import {applyPodDefaults} from '../../api/defaults/pod-defaults.js';
import {withoutDefaults} from '../../api/defaults/without-defaults.js';
import {describeFieldError} from '../../api/field-error.js';
import {validatePod} from '../../api/validation/validate-pod.js';
import type {RuntimeClass} from '../../api/types/v1-objects.js';
import type {Pod} from '../../api/types/v1-pod.js';
import type {ContainerId, PodSandboxId} from '../../cri/index.js';
import {configMapNames, secretNames} from '../../kubelet/index.js';
import {generatePod} from '../../operations/generate/generate-pod.js';
import {manifestOfRecord} from '../../operations/generate/manifest-of-record.js';
import {NotFoundError, type Target} from '../../operations/resolve/target.js';
import type {
  ConnectionContext,
  DialectContext,
  ReportContext,
  RuntimeContext,
  SettingsContext,
  SignalContext,
} from '../../cli/command/contexts.js';
import {forEachTarget} from '../../cli/command/for-each-target.js';
import {formatPodTitle} from '../pods/pod-title.js';
import {targetTitle, type ContainerTarget, type LifecycleTarget} from '../targets/find-targets.js';
import {readTargets} from '../targets/read-targets.js';
import {readPodFacts} from './read-pod-facts.js';

/** A generated object. */
export type GeneratedObject = Pod | RuntimeClass;

/** Subject of a reference: a pod whose manifest is known, another pod, or a container of one. */
type Source =
  | {readonly kind: 'manifest'; readonly pod: Pod}
  | {readonly kind: 'sandbox'; readonly id: PodSandboxId; readonly only?: ContainerId | undefined};

/**
 * Returns the manifests of the named pods and containers, and prints notes on what is unknown. Reports a name that
 * matches nothing, and continues with the others. Rejects with AmbiguousError, before anything is printed, and with CriError.
 */
export async function generateManifests(
  services: RuntimeContext & DialectContext,
  refs: readonly string[],
): Promise<readonly GeneratedObject[]> {
  const {targets} = await readTargets(services, refs, {}, {onMissing: services.report.fail});
  const objects = new Map<string, GeneratedObject>();
  await forEachTarget(services, targets.map(sourceOf), async (source) => {
    for (const object of await generate(services, source))
      objects.set(`${object.kind} ${object.metadata.namespace ?? ''}/${object.metadata.name ?? ''}`, object);
  });
  // RuntimeClasses precede the Pods that refer to them.
  return [...objects.values()].toSorted(
    (a, b) => Number(b.kind === 'RuntimeClass') - Number(a.kind === 'RuntimeClass'),
  );
}

async function generate(
  services: ConnectionContext & ReportContext & SettingsContext & SignalContext,
  source: Source,
): Promise<readonly GeneratedObject[]> {
  if (source.kind === 'manifest') {
    const pod = withoutDefaults(manifestOfRecord(source.pod, services.settings.rootDir));
    const needed = [...new Set([...secretNames(pod.spec), ...configMapNames(pod.spec)])].filter(Boolean);
    if (needed.length > 0)
      note(
        services,
        pod,
        `add the manifests of the Secrets and ConfigMaps that it refers to: ${needed.join(', ')}`,
      );
    return [pod];
  }
  const {runtime, images} = await services.connections.default();
  const facts = await readPodFacts({runtime, images}, source.id, {
    only: source.only,
    signal: services.signal,
  });
  const {pod, runtimeClass, notes} = generatePod(facts);
  if (pod.spec.containers.length === 0)
    throw new ConfigError(`pod "${formatPodTitle(titleOf(pod))}" has no containers`);
  for (const text of notes) note(services, pod, text);
  for (const error of validatePod(applyPodDefaults(pod))) note(services, pod, describeFieldError(error));
  return [...(runtimeClass === undefined ? [] : [runtimeClass]), withoutDefaults(pod)];
}

function note({report}: ReportContext, pod: Pod, text: string): void {
  report.info(`kcri: note: pod "${formatPodTitle(titleOf(pod))}": ${text}`);
}

function titleOf({metadata: {name = '', namespace = 'default'}}: Pod): {
  readonly name: string;
  readonly namespace: string;
} {
  return {name, namespace};
}

/** Returns the source of a target, or the error that nothing is known of it. */
function sourceOf(target: LifecycleTarget): Target<Source> {
  const {record, rejected, ofKubelet, inRuntime} = target.listed;
  if (target.kind === 'container') return sourceOfContainer(target);
  const ref = targetTitle(target);
  const pod = record?.pod ?? rejected?.pod ?? ofKubelet;
  if (pod !== undefined) return {kind: 'found', ref, id: {kind: 'manifest', pod}};
  const [newest] = inRuntime?.sandboxes ?? [];
  if (newest !== undefined) return {kind: 'found', ref, id: {kind: 'sandbox', id: newest.id}};
  return {kind: 'missing', ref, error: new NotFoundError(`pod "${ref}" has no sandbox`)};
}

function sourceOfContainer(target: ContainerTarget): Target<Source> {
  const ref = targetTitle(target);
  const {id, listed} = target;
  const sandbox = listed.inRuntime?.containers.find((container) => container.id === id)?.podSandboxId;
  if (id !== undefined && sandbox !== undefined)
    return {kind: 'found', ref, id: {kind: 'sandbox', id: sandbox, only: id}};
  const error = new NotFoundError(`container "${ref}" has not been created`, {
    hint: `run "kcri generate ${formatPodTitle(listed)}" for the manifest of the pod`,
  });
  return {kind: 'missing', ref, error};
}
