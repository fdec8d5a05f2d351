import type {CommandContext} from '../../cli/command/contexts.js';

/** Result of a query of one node. */
export interface NodeResult<T> {
  /** Name of the node; undefined if there is only one. */
  readonly node: string | undefined;
  /** Services with connections to this node. */
  readonly services: CommandContext;
  readonly value: T;
}
