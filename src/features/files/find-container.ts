import type {Connection} from '../../cri/index.js';
import type {ContainerTarget} from '../../operations/files/container-process.js';
import {requireTarget} from '../../operations/resolve/resolve-names.js';
import type {DialectContext, ResolvingContext, RuntimeContext} from '../../cli/command/contexts.js';
import {parseContainerSelection, choosePodContainers} from '../containers/select-containers.js';

/** Finds a container, running or not, or the container of a pod that `container` names. Rejects with KcriError. */
export async function findContainer(
  services: RuntimeContext & DialectContext & ResolvingContext,
  connection: Connection,
  ref: string,
  container: string | undefined,
): Promise<ContainerTarget> {
  const selection = await parseContainerSelection([ref], {container}, {states: 'all'});
  const [target] = await choosePodContainers(services, connection, selection, {container});
  return {id: requireTarget(target).id, title: ref};
}
