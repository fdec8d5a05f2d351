import type {RandomSource} from '../base/clock.js';
import {SystemError} from '../base/errors.js';
import type {ApiClient} from './api-client.js';
import type {ListedObject, ListerWatcher, WatchEvent, WatchStart} from './list-watch.js';

/** Objects on a page of a list (client-go's pager). */
const PAGE_SIZE = 500;
/** Maximum number of objects of a list: more than the Services of the largest clusters. */
const MAX_OBJECTS = 100_000;
/** Default minimum duration of a watch, in seconds. */
const MIN_WATCH_SECONDS = 300;
/** Time in seconds after which a watch is given up that the server should have ended. */
const WATCH_GRACE_SECONDS = 30;
/** Annotation of the bookmark that follows the initial events (metav1.InitialEventsAnnotationKey). */
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/** Options of {@link createCollection}. */
export interface CollectionOptions<T> {
  readonly client: ApiClient;
  /** Path of the collection, such as `/api/v1/pods`. */
  readonly path: string;
  /** Selects objects by a field, as in `metadata.name=web`; all by default. */
  readonly fieldSelector?: string;
  /** Minimum duration of a watch; it can be twice as long, so that watches do not end together. */
  readonly minWatchSeconds?: number;
  /** Returns the object from its JSON; undefined drops it. */
  readonly decode: (value: object) => T | undefined;
  readonly random: RandomSource;
}

interface RawList {
  readonly items?: readonly object[];
  readonly metadata?: {readonly resourceVersion?: string; readonly continue?: string};
}

/** Creates a collection of API objects, which a Reflector follows. */
export function createCollection<T extends ListedObject>({
  client,
  path,
  fieldSelector,
  minWatchSeconds = MIN_WATCH_SECONDS,
  decode,
  random,
}: CollectionOptions<T>): ListerWatcher<T> {
  const selector = fieldSelector === undefined ? {} : {fieldSelector};
  return {
    list: async (resourceVersion, signal) => {
      // The API server answers from memory if it may send any version, or without pages.
      const limit = resourceVersion === '' || resourceVersion === '0' ? {limit: String(PAGE_SIZE)} : {};
      const items: T[] = [];
      let [version, next] = ['', ''];
      do {
        // The pages after the first are of the version at which the list began.
        const query = {...selector, ...limit, ...(next === '' ? {resourceVersion} : {continue: next})};
        const page = (await client.request({method: 'GET', path, query}, signal)) as RawList;
        items.push(...(page.items ?? []).flatMap((item) => decode(item) ?? []));
        if (items.length > MAX_OBJECTS)
          throw new SystemError(`the list has more than ${MAX_OBJECTS} objects`);
        ({resourceVersion: version = '', continue: next = ''} = page.metadata ?? {});
      } while (next !== '');
      return {items, resourceVersion: version};
    },
    watch: async function* (start, signal): AsyncGenerator<WatchEvent<T>> {
      const timeoutSeconds = Math.floor(minWatchSeconds * (1 + random() / 2 ** 32));
      const query = {...selector, ...watchQuery(start), timeoutSeconds: String(timeoutSeconds)};
      const maxMs = (timeoutSeconds + WATCH_GRACE_SECONDS) * 1000;
      for await (const {type, object} of client.watch({path, query, maxMs}, signal)) {
        const event = toWatchEvent(type, object, decode);
        if (event !== undefined) yield event;
      }
    },
  };
}

function watchQuery({resourceVersion, sendInitialEvents = false}: WatchStart): Record<string, string> {
  if (!sendInitialEvents) return {resourceVersion, allowWatchBookmarks: 'true'};
  return {
    ...(resourceVersion !== '' && {resourceVersion}),
    resourceVersionMatch: 'NotOlderThan',
    sendInitialEvents: 'true',
    allowWatchBookmarks: 'true',
  };
}

/** Returns the event of a watch; undefined for an object that cannot be decoded and for an unknown type. */
function toWatchEvent<T>(
  type: string,
  raw: object,
  decode: (value: object) => T | undefined,
): WatchEvent<T> | undefined {
  if (type === 'BOOKMARK') {
    const {metadata} = raw as ListedObject & {metadata: {annotations?: Readonly<Record<string, string>>}};
    return {
      type,
      resourceVersion: metadata.resourceVersion ?? '',
      endsInitialEvents: metadata.annotations?.[INITIAL_EVENTS_END] === 'true',
    };
  }
  if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED') return undefined;
  const object = decode(raw);
  return object === undefined ? undefined : {type, object};
}
