import type {Connection} from '../../cri/index.js';
import type {ContainerTarget} from '../../operations/files/container-process.js';
import {actOnTarget} from '../../operations/resolve/target.js';
import type {DialectContext, ResolvingContext, RuntimeContext} from '../../cli/command/contexts.js';
import {parseContainerSelection, choosePodContainers} from '../containers/select-containers.js';

/** Container as the user named it. */
export interface ContainerWords {
  readonly ref: string;
  /** Name of the container, if `ref` is a pod. */
  readonly container: string | undefined;
}

/** Returns what `act` returns for a container, running or not, as actOnTarget does. Rejects with KcriError. */
export async function actOnContainer<T>(
  services: RuntimeContext & DialectContext & ResolvingContext,
  connection: Connection,
  {ref, container}: ContainerWords,
  act: (target: ContainerTarget) => Promise<T>,
): Promise<T> {
  const selection = await parseContainerSelection([ref], {container}, {states: 'all'});
  const [target] = await choosePodContainers(services, connection, selection, {container});
  return await actOnTarget(target, async (id) => await act({id, title: ref}));
}
