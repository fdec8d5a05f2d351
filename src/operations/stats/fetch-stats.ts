import {forEachLimit} from '../../base/async/for-each-limit.js';
import {
  CriError,
  isNotFound,
  type ContainerId,
  type ContainerStats,
  type FieldMask,
  type GrpcCode,
  type PodSandboxId,
  type PodSandboxStats,
  type RuntimeService,
} from '../../cri/index.js';
import {truncateId} from '../../format/truncate-id.js';
import {
  listAll,
  listAllContainers,
  listAllSandboxes,
  mapAsyncIterable,
  pageCallOptions,
} from '../../cri/list-all.js';

/** Conditions for stats. Omitted conditions match all. */
export interface StatsQuery<Id> {
  readonly ids?: readonly Id[] | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** Conditions for the stats of containers. */
export interface ContainerStatsQuery extends StatsQuery<ContainerId> {
  readonly podSandboxId?: PodSandboxId | undefined;
}

/** Options of the stats functions. */
export interface StatsOptions {
  readonly signal: AbortSignal;
  /**
   * Compensates for the runtime: queries each object separately if the list fails because of one, filters the result,
   * and reports named objects without stats.
   */
  readonly thorough: boolean;
}

/** Options of fetchContainerStats. */
export interface ContainerStatsOptions extends StatsOptions {
  /** Fields to decode of each, `attributes.id` among them; all by default. */
  readonly each?: FieldMask<ContainerStats>;
}

/** An object whose stats are unavailable. */
export interface StatsFailure {
  readonly id: string;
  /** Kind and quoted name, such as `pod "team/web"`. */
  readonly title: string;
  readonly reason: string;
}

/** Stats sorted by ID, and the objects that the runtime could not measure. */
export interface StatsResult<T> {
  readonly stats: readonly T[];
  readonly failures: readonly StatsFailure[];
}

/**
 * Fetches the stats of the containers that match, in one call unless one of them is faulty. Rejects with CriError.
 */
export async function fetchContainerStats(
  runtime: RuntimeService,
  query: ContainerStatsQuery,
  options: ContainerStatsOptions,
): Promise<StatsResult<ContainerStats>> {
  const {signal, each} = options;
  const [fields, pageFields] = each === undefined ? [] : [{stats: each}, {containerStats: each}];
  const {podSandboxId} = query;
  const filter = {...sharedFilter(query), ...(podSandboxId === undefined ? {} : {podSandboxId})};
  return await measure(query, options, {
    list: async () =>
      await listAll({
        whole: async () => (await runtime.listContainerStats({filter}, {signal, fields})).stats,
        pages: () =>
          mapAsyncIterable(
            runtime.streamContainerStats({filter}, {...pageCallOptions(signal), fields: pageFields}),
            (page) => page.containerStats,
          ),
      }),
    subjects: async () => {
      const running = {...filter, state: {state: 'CONTAINER_RUNNING'}} as const;
      const containers = await listAllContainers(runtime, running, signal);
      return containers.map(({id, metadata}) => ({id, title: `container "${metadata?.name ?? id}"`}));
    },
    one: async (containerId) => (await runtime.containerStats({containerId}, {signal})).stats,
  });
}

/**
 * Fetches the stats of the ready sandboxes that match, in one call unless one of them is faulty. Rejects with
 * CriError.
 */
export async function fetchSandboxStats(
  runtime: RuntimeService,
  query: StatsQuery<PodSandboxId>,
  options: StatsOptions,
): Promise<StatsResult<PodSandboxStats>> {
  const {signal} = options;
  const filter = sharedFilter(query);
  return await measure(query, options, {
    list: async () =>
      await listAll({
        whole: async () => (await runtime.listPodSandboxStats({filter}, {signal})).stats,
        pages: () =>
          mapAsyncIterable(
            runtime.streamPodSandboxStats({filter}, pageCallOptions(signal)),
            (page) => page.podSandboxStats,
          ),
      }),
    subjects: async () => {
      const ready = {...filter, state: {state: 'SANDBOX_READY'}} as const;
      const sandboxes = await listAllSandboxes(runtime, ready, signal);
      return sandboxes.map(({id, metadata}) => ({
        id,
        title: `pod "${metadata?.namespace ?? ''}/${metadata?.name ?? id}"`,
      }));
    },
    one: async (podSandboxId) => (await runtime.podSandboxStats({podSandboxId}, {signal})).stats,
  });
}

/** Returns the filter that all runtimes support, with at most one ID. */
function sharedFilter<Id>({ids = [], labels}: StatsQuery<Id>) {
  const [id] = ids;
  return {
    ...(id === undefined || ids.length > 1 ? {} : {id}),
    ...(labels === undefined ? {} : {labelSelector: labels}),
  };
}

interface Attributed {
  readonly attributes?: {readonly id: string; readonly labels: Readonly<Record<string, string>>} | undefined;
}

/** RPCs for the stats of one kind of object. */
interface Source<T, Id extends string> {
  readonly list: () => Promise<readonly T[]>;
  /** Returns the objects to query one by one. */
  readonly subjects: () => Promise<readonly Subject<Id>[]>;
  readonly one: (id: Id) => Promise<T | undefined>;
}

interface Subject<Id> {
  readonly id: Id;
  readonly title: string;
}

async function measure<T extends Attributed, Id extends string>(
  query: StatsQuery<Id>,
  {thorough}: StatsOptions,
  source: Source<T, Id>,
): Promise<StatsResult<T>> {
  const {stats, failures} = await source.list().then(
    (list) => ({stats: list, failures: []}),
    async (error: unknown) => {
      if (thorough && isSingleObjectError(error)) return await measureEach(query, source, error);
      throw error;
    },
  );
  if (!thorough) return {stats: stats.toSorted(byId), failures};
  const matching = stats.filter((item) => matchesQuery(item, query)).toSorted(byId);
  return {stats: matching, failures: [...failures, ...missing(query, matching, failures)]};
}

function missing<Id extends string>(
  {ids = []}: StatsQuery<Id>,
  stats: readonly Attributed[],
  failures: readonly StatsFailure[],
): readonly StatsFailure[] {
  const known = new Set([...stats.map(({attributes}) => attributes?.id), ...failures.map(({id}) => id)]);
  return ids
    .filter((id) => !known.has(id))
    .map((id) => ({id, title: `"${truncateId(id)}"`, reason: 'not running'}));
}

/** Maximum number of concurrent calls. */
const MAX_CONCURRENT_CALLS = 8;

/** Queries each object separately. Rejects with `cause`, the error of the list, if no object could be measured. */
async function measureEach<T, Id extends string>(
  {ids = []}: StatsQuery<Id>,
  {subjects, one}: Source<T, Id>,
  cause: CriError,
): Promise<StatsResult<T>> {
  const stats: T[] = [];
  const failures: StatsFailure[] = [];
  const queried = (await subjects()).filter(({id}) => ids.length === 0 || ids.includes(id));
  await forEachLimit(queried, MAX_CONCURRENT_CALLS, async (subject) => {
    try {
      const measured = await one(subject.id);
      if (measured !== undefined) stats.push(measured);
    } catch (error) {
      if (!isSingleObjectError(error)) throw error;
      // The object was removed after it was listed.
      if (!isNotFound(error)) failures.push({...subject, reason: error.details});
    }
  });
  if (stats.length === 0) throw cause;
  return {stats, failures: failures};
}

/** Status codes that may be caused by a single object. Other errors affect all calls. */
const SINGLE_OBJECT_CODES: ReadonlySet<GrpcCode> = new Set([
  'UNKNOWN',
  'INTERNAL',
  'NOT_FOUND',
  'FAILED_PRECONDITION',
]);

function isSingleObjectError(error: unknown): error is CriError {
  return error instanceof CriError && SINGLE_OBJECT_CODES.has(error.grpcCode);
}

/** Reports whether stats match the query. Not every runtime applies all filters, and none several IDs. */
function matchesQuery<Id extends string>(
  {attributes}: Attributed,
  {ids = [], labels = {}}: StatsQuery<Id>,
): boolean {
  const own: Readonly<Record<string, string>> = attributes?.labels ?? {};
  return (
    (ids.length === 0 || ids.some((id) => id === attributes?.id)) &&
    Object.entries(labels).every(([key, value]) => own[key] === value)
  );
}

function byId(a: Attributed, b: Attributed): number {
  const [first = '', second = ''] = [a.attributes?.id, b.attributes?.id];
  return first === second ? 0 : first < second ? -1 : 1;
}
