import {concurrently} from '../base/concurrently.js';
import {
  CriError,
  isNotFound,
  type ContainerId,
  type ContainerStats,
  type GrpcCode,
  type PodSandboxId,
  type PodSandboxStats,
  type RuntimeService,
} from '../cri/index.js';
import {truncateId} from '../format/id.js';
import {listAll, listAllContainers, listAllSandboxes, mapped, pageCall} from '../cri/list-all.js';

/** Whose stats are wanted; what is left out does not matter. */
export interface StatsQuery<Id> {
  readonly ids?: readonly Id[] | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** Which containers' stats are wanted. */
export interface ContainerStatsQuery extends StatsQuery<ContainerId> {
  readonly podSandboxId?: PodSandboxId | undefined;
}

/** How stats are asked for. */
export interface MeasureOptions {
  readonly signal: AbortSignal;
  /**
   * Do what a runtime leaves undone: ask for each object by itself when the list fails because of one, filter
   * what comes, say which named ones have no stats.
   */
  readonly thorough: boolean;
}

/** One object whose stats could not be had. */
export interface Unmeasured {
  readonly id: string;
  /** What it is called: `pod "team/web"`. */
  readonly title: string;
  readonly reason: string;
}

/** What was measured, sorted by id, and what the runtime could not measure. */
export interface Measured<T> {
  readonly stats: readonly T[];
  readonly broken: readonly Unmeasured[];
}

/** The stats of the containers that match, from one call unless one of them is broken. Throws CriError. */
export async function measureContainers(
  runtime: RuntimeService,
  query: ContainerStatsQuery,
  options: MeasureOptions,
): Promise<Measured<ContainerStats>> {
  const {signal} = options;
  const {podSandboxId} = query;
  const filter = {...sharedFilter(query), ...(podSandboxId === undefined ? {} : {podSandboxId})};
  return await measure(query, options, {
    list: async () =>
      await listAll({
        whole: async () => (await runtime.listContainerStats({filter}, {signal})).stats,
        pages: () =>
          mapped(runtime.streamContainerStats({filter}, pageCall(signal)), (page) => page.containerStats),
      }),
    subjects: async () => {
      const running = {...filter, state: {state: 'CONTAINER_RUNNING'}} as const;
      const containers = await listAllContainers(runtime, running, signal);
      return containers.map(({id, metadata}) => ({id, title: `container "${metadata?.name ?? id}"`}));
    },
    one: async (containerId) => (await runtime.containerStats({containerId}, {signal})).stats,
  });
}

/** The stats of the ready sandboxes that match, from one call unless one of them is broken. Throws CriError. */
export async function measureSandboxes(
  runtime: RuntimeService,
  query: StatsQuery<PodSandboxId>,
  options: MeasureOptions,
): Promise<Measured<PodSandboxStats>> {
  const {signal} = options;
  const filter = sharedFilter(query);
  return await measure(query, options, {
    list: async () =>
      await listAll({
        whole: async () => (await runtime.listPodSandboxStats({filter}, {signal})).stats,
        pages: () =>
          mapped(runtime.streamPodSandboxStats({filter}, pageCall(signal)), (page) => page.podSandboxStats),
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

/** What every runtime is asked to filter by; it can take one id only. */
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

/** Where the stats of one kind of object come from. */
interface Source<T, Id extends string> {
  readonly list: () => Promise<readonly T[]>;
  /** What to ask for one by one. */
  readonly subjects: () => Promise<readonly Subject<Id>[]>;
  readonly one: (id: Id) => Promise<T | undefined>;
}

interface Subject<Id> {
  readonly id: Id;
  readonly title: string;
}

async function measure<T extends Attributed, Id extends string>(
  query: StatsQuery<Id>,
  {thorough}: MeasureOptions,
  source: Source<T, Id>,
): Promise<Measured<T>> {
  const {stats, broken} = await source.list().then(
    (list) => ({stats: list, broken: []}),
    async (error: unknown) => {
      if (thorough && isFaultOfOne(error)) return await measureEach(query, source, error);
      throw error;
    },
  );
  if (!thorough) return {stats: stats.toSorted(byId), broken};
  const wanted = stats.filter((item) => isWanted(item, query)).toSorted(byId);
  return {stats: wanted, broken: [...broken, ...missing(query, wanted, broken)]};
}

function missing<Id extends string>(
  {ids = []}: StatsQuery<Id>,
  stats: readonly Attributed[],
  broken: readonly Unmeasured[],
): readonly Unmeasured[] {
  const known = new Set([...stats.map(({attributes}) => attributes?.id), ...broken.map(({id}) => id)]);
  return ids
    .filter((id) => !known.has(id))
    .map((id) => ({id, title: `"${truncateId(id)}"`, reason: 'it does not run'}));
}

/** How many objects are asked for at once. */
const AT_ONCE = 8;

/** Throws `cause`, for which the list failed, when nothing at all could be measured. */
async function measureEach<T, Id extends string>(
  {ids = []}: StatsQuery<Id>,
  {subjects, one}: Source<T, Id>,
  cause: CriError,
): Promise<Measured<T>> {
  const stats: T[] = [];
  const broken: Unmeasured[] = [];
  const wanted = (await subjects()).filter(({id}) => ids.length === 0 || ids.includes(id));
  await concurrently(wanted, AT_ONCE, async (subject) => {
    try {
      const measured = await one(subject.id);
      if (measured !== undefined) stats.push(measured);
    } catch (error) {
      if (!isFaultOfOne(error)) throw error;
      // What has ended since it was listed is not broken.
      if (!isNotFound(error)) broken.push({...subject, reason: error.details});
    }
  });
  if (stats.length === 0) throw cause;
  return {stats, broken};
}

/** What a runtime answers when it stumbles over one object; anything else would befall every call. */
const FAULTS_OF_ONE: ReadonlySet<GrpcCode> = new Set([
  'UNKNOWN',
  'INTERNAL',
  'NOT_FOUND',
  'FAILED_PRECONDITION',
]);

function isFaultOfOne(error: unknown): error is CriError {
  return error instanceof CriError && FAULTS_OF_ONE.has(error.grpcCode);
}

/** Not every runtime filters by all that it is asked to, and none by several ids. */
function isWanted<Id extends string>(
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
