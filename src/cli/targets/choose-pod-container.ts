import {SystemError} from '../../base/errors.js';
import {podUid, type ContainerId, type PodSandbox, type PodSandboxId} from '../../cri/index.js';
import {listAllContainers, listAllSandboxes} from '../../cri/list-all.js';
import {chooseContainer, type ContainerLayout} from '../../operations/resolve/choose-container.js';
import {NotFoundError, type Target} from '../../operations/resolve/resolve-names.js';
import type {CommandServices} from '../command/command-services.js';
import type {ContainerChoice} from './select-containers.js';

/** Pod as the user named it. */
export interface NamedPod {
  readonly ref: string;
  readonly id: PodSandboxId;
}

/** Returns a container of a pod, chosen as in kubectl, and prints kubectl's note if the choice was not obvious. */
export async function choosePodContainer(
  services: CommandServices,
  pod: NamedPod,
  {container: name, quiet = false}: ContainerChoice,
): Promise<Target<ContainerId>> {
  const {connections, report, signal} = services;
  const {runtime} = await connections.default();
  const [sandboxes, containers] = await Promise.all([
    listAllSandboxes(runtime, {id: pod.id}, signal),
    listAllContainers(runtime, {podSandboxId: pod.id}, signal),
  ]);
  const sandbox = sandboxes.find(({id}) => id === pod.id);
  const candidates = {
    name: sandbox?.metadata?.name ?? pod.ref,
    annotations: sandbox?.annotations ?? {},
    // Not all runtimes apply filters.
    containers: containers.filter(({podSandboxId}) => podSandboxId === pod.id),
    layout: await readLayout(services, sandbox),
  };
  try {
    const {container, note} = chooseContainer(candidates, name);
    if (note !== undefined && !quiet) report.info(note);
    const {namespace = ''} = sandbox?.metadata ?? {};
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

/** Returns the containers in the spec of a pod that kcri created; undefined for other pods. */
async function readLayout(
  {report, settings}: CommandServices,
  sandbox: PodSandbox | undefined,
): Promise<ContainerLayout | undefined> {
  const {uid = ''} = sandbox?.metadata ?? {};
  if (uid === '') return undefined;
  const {PodStore} = await import('../../kubelet/index.js');
  try {
    const record = await new PodStore(settings.rootDir).get(podUid(uid));
    if (record === undefined) return undefined;
    const {containers, initContainers = []} = record.pod.spec;
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
