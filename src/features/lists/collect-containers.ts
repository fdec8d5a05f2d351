import type {Connection, Container, FieldMask} from '../../cri/index.js';
import {listContainers, listImageTags} from '../../operations/containers/list-containers.js';
import {createPodLookup, podFromLabels} from '../../operations/pods/pod-labels.js';
import {withContext} from '../../operations/with-context.js';
import type {CommandContext} from '../../cli/command/contexts.js';
import {containerQuery, type ContainerFilterValues} from '../containers/filter-flags.js';
import {createSorter, type ListFlagValues} from './list-flags.js';
import {parseOutputFormat, type OutputFormat} from '../../cli/output/parse-output-format.js';
import {CONTAINER_COLUMN_FIELDS, CONTAINER_ORDERS, type ContainerRow} from './container-table.js';

declare module '../../cli/dialect/command-strategies.js' {
  interface CommandStrategies {
    readonly ps: ListContainersStrategy;
  }
}

/** Output formats of lists. */
export const LIST_FORMATS = ['table', 'wide', 'name', 'json', 'yaml'] as const;

/** Output format of a list. */
export type ListForm = OutputFormat<(typeof LIST_FORMATS)[number]>;

/** Values of the flags of `ps`. */
export interface PsFlags extends ContainerFilterValues, ListFlagValues {
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly 'no-trunc': boolean;
  readonly 'resolve-image-path': boolean;
}

/** Containers to show, in their order. */
export interface ContainerList {
  readonly form: ListForm;
  readonly rows: readonly ContainerRow[];
  readonly connection: Connection;
  /** Returns the tags to show as images, by container. */
  readonly tags: () => Promise<ReadonlyMap<string, string>>;
}

/** Lists containers for `ps`. Rejects with KcriError. */
export type ListContainersStrategy = (services: CommandContext, flags: PsFlags) => Promise<ContainerList>;

/** kcri's list of containers. */
export const collectContainers: ListContainersStrategy = async (services, flags) => {
  const {connections, signal} = services;
  const form = await parseOutputFormat(flags, LIST_FORMATS, services);
  const query = {...(await containerQuery(flags)), fields: fieldsFor(form, flags)};
  const arrange = createSorter(flags, CONTAINER_ORDERS);
  const connection = await connections.default();
  const {runtime, images} = connection;
  const containers = await withContext('listing containers', listContainers(connection, query, signal));
  const idsOnly = flags.quiet || !['table', 'wide', 'name'].includes(form.kind);
  const podOf =
    idsOnly && flags.sort === undefined ? podFromLabels : await createPodLookup(runtime, containers, signal);
  const rows = arrange(containers.map((container) => ({container, pod: podOf(container)})));
  return {form, rows, connection, tags: async () => await listImageTags(images, containers, signal)};
};

/** Returns the required fields of each container; undefined for all. */
function fieldsFor({kind}: ListForm, flags: PsFlags): FieldMask<Container> | undefined {
  const columnsOnly = (kind === 'table' || kind === 'name') && !flags.verbose && !flags['resolve-image-path'];
  return columnsOnly ? CONTAINER_COLUMN_FIELDS : undefined;
}
