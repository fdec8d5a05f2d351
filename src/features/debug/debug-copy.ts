import {ConfigError, UsageError} from '../../base/errors.js';
import type {Pod} from '../../api/types/v1-pod.js';
import type {Connection, Container, PodSandboxId} from '../../cri/index.js';
import {listAllContainers, listAllSandboxes} from '../../cri/list-all.js';
import {copyPod, type PodCopy} from '../../operations/debug/copy-pod.js';
import {getContainerStatus} from '../../operations/logs/container-log.js';
import type {
  DialectContext,
  OutputContext,
  RuntimeContext,
  SecretsContext,
  SignalContext,
} from '../../cli/command/contexts.js';
import {formatManifests} from '../generate/format-manifests.js';
import {generateManifests, type GeneratedObject} from '../generate/generate-manifests.js';
import {deletePods} from '../delete/delete-pods.js';
import {startManifest} from '../run/run-manifest.js';
import {connectMainProcess} from '../sessions/main-process.js';
import type {DebugRequest} from './debug-request.js';

/**
 * Runs a changed copy of a pod, which kcri manages, and with -i or -t connects to its container. Rejects with KcriError.
 */
export async function debugCopy(
  services: RuntimeContext & DialectContext & OutputContext & SecretsContext,
  request: DebugRequest,
): Promise<void> {
  const {ref = '', flags, streams} = request;
  const objects = await generateManifests(services, [ref]);
  const original = objects.find((object): object is Pod => object.kind === 'Pod');
  if (original === undefined) return;
  const copy = copyPod(original, {
    ...request,
    ...streams,
    name: flags['copy-to'] ?? '',
    container: flags.container,
    image: flags.image,
    images: parseImages(flags['set-image']),
    sharesProcesses: flags['share-processes'],
    keepsHostPorts: flags.replace,
  });
  const connection = await services.connections.default();
  await checkCopyName(services, connection, copy.pod);
  for (const note of copy.notes) services.report.info(`kcri: note: ${note}`);
  if (flags.replace) await deleteOriginal(services, original);
  if (services.report.exitCode !== 0) return;
  await runCopy(services, connection, {objects, copy}, request);
}

async function runCopy(
  services: RuntimeContext & DialectContext & OutputContext & SecretsContext,
  {runtime}: Connection,
  {objects, copy}: {readonly objects: readonly GeneratedObject[]; readonly copy: PodCopy},
  {flags, streams}: DebugRequest,
): Promise<void> {
  const {out, report, signal} = services;
  const manifest = [...objects.filter(({kind}) => kind !== 'Pod'), copy.pod];
  const source = {
    file: `copy of the pod as "${copy.pod.metadata.name ?? ''}"`,
    text: formatManifests(manifest, 'yaml'),
  };
  const [sandbox] = await startManifest(services, source, flagsOfManifest(flags));
  if (sandbox === undefined) return;
  if (!streams.stdin && !streams.tty) {
    out.print(sandbox);
    return;
  }
  const container = await findContainer(services, runtime, sandbox, copy.container);
  const status = await getContainerStatus(runtime, container.id, signal);
  const started = {id: container.id, name: copy.container, logPath: status?.logPath ?? ''};
  report.info(`kcri: "kcri delete ${copy.pod.metadata.name ?? ''}" deletes the copy`);
  const end = await connectMainProcess(services, runtime, started, {streams, flags});
  report.setExitCode(end.exitCode);
}

function flagsOfManifest(flags: DebugRequest['flags']) {
  return {'pod-logs-dir': flags['pod-logs-dir'], 'cgroup-root': flags['cgroup-root']};
}

async function findContainer(
  {signal}: SignalContext,
  runtime: Connection['runtime'],
  podSandboxId: PodSandboxId,
  name: string,
): Promise<Container> {
  const containers = await listAllContainers(runtime, {podSandboxId}, signal);
  const found = containers.find((each) => each.podSandboxId === podSandboxId && each.metadata?.name === name);
  if (found === undefined) throw new ConfigError(`container "${name}" of the copy no longer exists`);
  return found;
}

/** Rejects with ConfigError if a pod has the name of the copy: a sync would replace it. */
async function checkCopyName({signal}: SignalContext, {runtime}: Connection, {metadata}: Pod): Promise<void> {
  const {name = '', namespace = 'default'} = metadata;
  const sandboxes = await listAllSandboxes(runtime, {}, signal);
  if (sandboxes.some((each) => each.metadata?.name === name && each.metadata.namespace === namespace))
    throw new ConfigError(`pod "${namespace}/${name}" already exists`, {
      hint: `delete it with "kcri delete ${name}", or use another name for --copy-to`,
    });
}

async function deleteOriginal(services: RuntimeContext & OutputContext, {metadata}: Pod): Promise<void> {
  const {name = '', namespace = 'default'} = metadata;
  const request = {words: [`${namespace}/${name}`], files: [], selector: undefined};
  await deletePods(services, request, {gracePeriodSeconds: undefined, namespace: undefined, volumes: false});
}

function parseImages(words: readonly string[] = []): ReadonlyMap<string, string> {
  return new Map(
    words.map((word) => {
      const [, name = '', image = ''] = /^([^=]+)=(.+)$/.exec(word) ?? [];
      if (name === '') throw new UsageError(`invalid --set-image "${word}": must be CONTAINER=IMAGE`);
      return [name, image];
    }),
  );
}
