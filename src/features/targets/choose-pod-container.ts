import type {Pod} from '../../api/types/v1-pod.js';
import {SystemError} from '../../base/errors.js';
import {podUid, type ContainerId, type PodSandbox, type PodSandboxId} from '../../cri/index.js';
import {listAllContainers, listAllSandboxes} from '../../cri/list-all.js';
import {chooseContainer, type ContainerLayout} from '../../operations/resolve/choose-container.js';
import {NotFoundError, type Target} from '../../operations/resolve/target.js';
import type {
  EnvironmentContext,
  ReportContext,
  RuntimeContext,
  SettingsContext,
  SignalContext,
} from '../../cli/command/contexts.js';

/** Pod as the user named it. */
export interface NamedPod {
  readonly ref: string;
  readonly id: PodSandboxId;
}

/** Choice of a container of a pod. */
export interface ContainerChoice {
  /** Name of the container; undefined for the default container. */
  readonly container?: string | undefined;
  /** True to omit the note about the default container. */
  readonly quiet?: boolean;
}

/** Returns a container of a pod, chosen as in kubectl, and prints kubectl's note if the choice was not obvious. */
export async function choosePodContainer(
  services: RuntimeContext,
  pod: NamedPod,
  {container: name, quiet = false}: ContainerChoice,
): Promise<Target<ContainerId>> {
  const {namespace, ...candidates} = await readCandidates(services, pod);
  try {
    const {container, note} = chooseContainer(candidates, name);
    if (note !== undefined && !quiet) services.report.info(note);
    return {
      kind: 'found',
      ref: `${namespace}/${candidates.name}/${container.metadata?.name ?? ''}`,
      id: container.id,
    };
  } catch (error) {
    if (error instanceof NotFoundError) return {kind: 'missing', ref: pod.ref, error};
    throw error;
  }
}

/** Returns the namespace and name of a pod, and what its container is chosen from. */
async function readCandidates(
  services: RuntimeContext,
  pod: NamedPod,
): Promise<Parameters<typeof chooseContainer>[0] & {readonly namespace: string}> {
  const {connections, signal} = services;
  const {runtime} = await connections.default();
  const [sandboxes, containers] = await Promise.all([
    listAllSandboxes(runtime, {id: pod.id}, signal),
    listAllContainers(runtime, {podSandboxId: pod.id}, signal),
  ]);
  const sandbox = sandboxes.find(({id}) => id === pod.id);
  const {name = pod.ref, namespace = ''} = sandbox?.metadata ?? {};
  return {
    name,
    namespace,
    annotations: sandbox?.annotations ?? {},
    // Not all runtimes apply filters.
    containers: containers.filter(({podSandboxId}) => podSandboxId === pod.id),
    layout: await readLayout(services, sandbox),
  };
}

/**
 * Returns the containers in the spec of a pod of kcri, or of a kubelet that answers; undefined for other pods, and for
 * those of a remote node, whose UID a pod of this machine may have too.
 */
async function readLayout(
  services: EnvironmentContext & ReportContext & SettingsContext & SignalContext,
  sandbox: PodSandbox | undefined,
): Promise<ContainerLayout | undefined> {
  const {report, settings} = services;
  const {uid = ''} = sandbox?.metadata ?? {};
  if (uid === '' || (await settings.remoteEndpoint()) !== undefined) return undefined;
  const {PodStore} = await import('../../kubelet/index.js');
  try {
    const record = await new PodStore(settings.rootDir).get(podUid(uid));
    const pod = record?.pod ?? (await findKubeletPod(services, sandbox));
    if (pod === undefined) return undefined;
    const {containers, initContainers = []} = pod.spec;
    return {
      containers: containers.map(({name}) => name),
      initContainers: initContainers.map(({name}) => name),
    };
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    report.warn(error.message);
    return undefined;
  }
}

/** Returns the pod of a sandbox from the kubelet of this machine, if it has one that answers. */
async function findKubeletPod(
  {context: {localKubelet, clock}, signal}: EnvironmentContext & SignalContext,
  sandbox: PodSandbox | undefined,
): Promise<Pod | undefined> {
  const uid = sandbox?.labels['io.kubernetes.pod.uid'];
  if (localKubelet === undefined || uid === undefined) return undefined;
  const {LOCAL_KUBELET, readLocalKubeletPods} = await import('../pods/local-kubelet.js');
  const kubelet = localKubelet === 'default' ? LOCAL_KUBELET : localKubelet;
  const pods = await readLocalKubeletPods({kubelet, clock, signal});
  return pods?.find(({metadata}) => metadata.uid === uid);
}
