import {ConfigError, SystemError} from '../../base/errors.js';
import {applyPodDefaults} from '../../api/defaults/pod-defaults.js';
import {withoutDefaults} from '../../api/defaults/without-defaults.js';
import {describeFieldError} from '../../api/field-error.js';
import {validatePod} from '../../api/validation/validate-pod.js';
import type {RuntimeClass} from '../../api/types/v1-objects.js';
import type {Pod} from '../../api/types/v1-pod.js';
import type {ContainerId, PodSandbox, PodSandboxId} from '../../cri/index.js';
import {listAllContainers, listAllSandboxes} from '../../cri/list-all.js';
import {configMapNames, findRecordsByName, secretNames, type PodRecord} from '../../kubelet/index.js';
import {generatePod} from '../../operations/generate/generate-pod.js';
import {manifestOfRecord} from '../../operations/generate/manifest-of-record.js';
import {
  resolveContainersAmong,
  resolveSandboxesAmong,
  type Target,
} from '../../operations/resolve/resolve-names.js';
import type {CommandServices} from '../command/command-services.js';
import {forEachTarget} from '../command/for-each-target.js';
import {readNodeRecords} from '../pods/node-records.js';
import {formatPodTitle} from '../sync/view/sync-text.js';
import {readPodFacts} from './read-pod-facts.js';

/** A generated object. */
export type GeneratedObject = Pod | RuntimeClass;

/** Subject of a reference: a pod that kcri manages, any pod, or a container of one. */
type Source =
  | {readonly kind: 'record'; readonly record: PodRecord}
  | {readonly kind: 'sandbox'; readonly id: PodSandboxId; readonly only?: ContainerId | undefined};

/**
 * Returns the manifests of the named pods and containers, and prints notes on what is unknown. Reports a name that
 * matches nothing, and continues with the others. Rejects with ConfigError for an ambiguous name, and with CriError.
 */
export async function generateManifests(
  services: CommandServices,
  refs: readonly string[],
): Promise<readonly GeneratedObject[]> {
  const targets = await resolveSources(services, refs);
  const objects = new Map<string, GeneratedObject>();
  await forEachTarget(services, targets, async (source) => {
    for (const object of await generate(services, source))
      objects.set(`${object.kind} ${object.metadata.namespace ?? ''}/${object.metadata.name ?? ''}`, object);
  });
  // RuntimeClasses precede the Pods that refer to them.
  return [...objects.values()].toSorted(
    (a, b) => Number(b.kind === 'RuntimeClass') - Number(a.kind === 'RuntimeClass'),
  );
}

async function generate(services: CommandServices, source: Source): Promise<readonly GeneratedObject[]> {
  if (source.kind === 'record') {
    const pod = withoutDefaults(manifestOfRecord(source.record.pod, services.settings.rootDir));
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

function note({report}: CommandServices, pod: Pod, text: string): void {
  report.info(`kcri: note: pod "${formatPodTitle(titleOf(pod))}": ${text}`);
}

function titleOf({metadata: {name = '', namespace = 'default'}}: Pod): {
  readonly name: string;
  readonly namespace: string;
} {
  return {name, namespace};
}

async function resolveSources(
  services: CommandServices,
  refs: readonly string[],
): Promise<readonly Target<Source>[]> {
  const records = await readRecords(services);
  const named = refs.map((ref) => findRecordsByName(records, ref));
  const others = refs.filter((_, index) => named[index]?.length !== 1);
  const resolved = others.length === 0 ? [] : await resolveOnRuntime(services, others, records);
  const byRef = new Map(resolved.map((target) => [target.ref, target]));
  return refs.flatMap((ref, index): readonly Target<Source>[] => {
    const [record] = named[index] ?? [];
    const target = byRef.get(ref);
    if (target !== undefined) return [target];
    return record === undefined ? [] : [{kind: 'found', ref, id: {kind: 'record', record}}];
  });
}

/** Returns kcri's records of the node's pods; none if this user may not read them. */
async function readRecords(services: CommandServices): Promise<readonly PodRecord[]> {
  try {
    return (await readNodeRecords(services)).records;
  } catch (error) {
    if (error instanceof SystemError) return [];
    throw error;
  }
}

async function resolveOnRuntime(
  services: CommandServices,
  refs: readonly string[],
  records: readonly PodRecord[],
): Promise<readonly Target<Source>[]> {
  const {runtime} = await services.connections.default();
  const {signal} = services;
  const sandboxes = await listAllSandboxes(runtime, {}, signal);
  const pods = await resolveSandboxesAmong(runtime, refs, sandboxes, services.resolving({}));
  const missing = pods.flatMap((target) => (target.kind === 'missing' ? [target.ref] : []));
  const containers = missing.length === 0 ? [] : await listAllContainers(runtime, {}, signal);
  const found =
    missing.length === 0 ? [] : await resolveContainersAmong(runtime, missing, containers, {signal});
  return pods.map((target) => {
    if (target.kind === 'found') return {...target, id: sourceOf(target.id, sandboxes, records)};
    const container = found.find(({ref}) => ref === target.ref);
    const sandbox = containers.find(({id}) => container?.kind === 'found' && id === container.id);
    if (container?.kind !== 'found' || sandbox === undefined) return target;
    return {
      kind: 'found',
      ref: target.ref,
      id: {kind: 'sandbox', id: sandbox.podSandboxId, only: container.id},
    };
  });
}

/** Returns the record of a sandbox's pod if kcri manages it. */
function sourceOf(id: PodSandboxId, sandboxes: readonly PodSandbox[], records: readonly PodRecord[]): Source {
  const uid = sandboxes.find((sandbox) => sandbox.id === id)?.metadata?.uid;
  const record = records.find((one) => one.uid === uid);
  return record === undefined ? {kind: 'sandbox', id} : {kind: 'record', record};
}
