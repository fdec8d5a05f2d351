import type {FieldMask, PodSandbox} from '../../cri/index.js';
import {listSandboxes} from '../../operations/pods/list-sandboxes.js';
import {withContext} from '../../operations/with-context.js';
import type {CommandContext} from '../../cli/command/contexts.js';
import {sandboxQuery, type SandboxFilterValues} from '../containers/filter-flags.js';
import {createSorter, type ListFlagValues} from './list-flags.js';
import {parseOutputFormat} from '../../cli/output/parse-output-format.js';
import {SANDBOX_COLUMN_FIELDS, SANDBOX_ORDERS} from './sandbox-table.js';
import {LIST_FORMATS, type ListForm} from './collect-containers.js';

declare module '../../cli/dialect/command-strategies.js' {
  interface CommandStrategies {
    readonly pods: ListPodsStrategy;
  }
}

/** Values of the flags of `pods`. */
export interface PodsFlags extends SandboxFilterValues, ListFlagValues {
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly 'no-trunc': boolean;
}

/** Sandboxes to show, in their order. */
export interface PodList {
  readonly form: ListForm;
  readonly items: readonly PodSandbox[];
}

/** Lists sandboxes for `pods`. Rejects with KcriError. */
export type ListPodsStrategy = (services: CommandContext, flags: PodsFlags) => Promise<PodList>;

/** kcri's list of sandboxes. */
export const collectPods: ListPodsStrategy = async (services, flags) => {
  const form = await parseOutputFormat(flags, LIST_FORMATS, services);
  const query = {...(await sandboxQuery(flags)), fields: fieldsFor(form, flags)};
  const arrange = createSorter(flags, SANDBOX_ORDERS);
  const {runtime} = await services.connections.default();
  const listed = await withContext('listing pod sandboxes', listSandboxes(runtime, query, services.signal));
  return {form, items: arrange(listed)};
};

/** Returns the required fields of each sandbox; undefined for all. */
function fieldsFor({kind}: ListForm, {verbose}: PodsFlags): FieldMask<PodSandbox> | undefined {
  return (kind === 'table' || kind === 'name') && !verbose ? SANDBOX_COLUMN_FIELDS : undefined;
}
