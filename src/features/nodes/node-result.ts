import type {CommandServices} from '../../cli/command/command-services.js';

/** Result of a query of one node. */
export interface NodeResult<T> {
  /** Name of the node; undefined if there is only one. */
  readonly node: string | undefined;
  /** Services with connections to this node. */
  readonly services: CommandServices;
  readonly value: T;
}
