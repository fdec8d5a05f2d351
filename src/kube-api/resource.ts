import type {RandomSource} from '../base/clock.js';
import type {ApiClient} from './api-client.js';
import type {ListedObject, ListerWatcher, ObjectList, WatchEvent} from './list-watch.js';

/** Objects on a page of a list (client-go's pager). */
const PAGE_SIZE = 500;
/** Minimum duration of a watch, in seconds; up to twice as long, so that watches do not end together. */
const MIN_WATCH_SECONDS = 300;

/** Options of {@link createCollection}. */
export interface CollectionOptions<T> {
  readonly client: ApiClient;
  /** Path of the collection, such as `/api/v1/pods`. */
  readonly path: string;
  readonly fieldSelector: string;
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
  decode,
  random,
}: CollectionOptions<T>): ListerWatcher<T> {
  return {
    list: async (resourceVersion, signal) => {
      // The pages after the first are of the version at which the list began.
      let page: RawList = {metadata: {continue: ''}};
      const items: T[] = [];
      do {
        const next = page.metadata?.continue ?? '';
        const query = {
          fieldSelector,
          limit: String(PAGE_SIZE),
          ...(next === '' ? {resourceVersion} : {continue: next}),
        };
        page = (await client.request({method: 'GET', path, query}, signal)) as RawList;
        items.push(...(page.items ?? []).flatMap((item) => decode(item) ?? []));
      } while ((page.metadata?.continue ?? '') !== '');
      return {items, resourceVersion: page.metadata?.resourceVersion ?? ''} satisfies ObjectList<T>;
    },
    watch: async function* (resourceVersion, signal): AsyncGenerator<WatchEvent<T>> {
      const timeoutSeconds = Math.floor(MIN_WATCH_SECONDS * (1 + random() / 2 ** 32));
      const query = {
        fieldSelector,
        resourceVersion,
        allowWatchBookmarks: 'true',
        timeoutSeconds: String(timeoutSeconds),
      };
      for await (const {type, object} of client.watch({path, query}, signal)) {
        const event = toWatchEvent(type, object, decode);
        if (event !== undefined) yield event;
      }
    },
  };
}

/** Returns the event of a watch; undefined for an object that cannot be decoded and for an unknown type. */
function toWatchEvent<T>(
  type: string,
  raw: object,
  decode: (value: object) => T | undefined,
): WatchEvent<T> | undefined {
  if (type === 'BOOKMARK') {
    const {metadata} = raw as ListedObject;
    return {type, resourceVersion: metadata.resourceVersion ?? ''};
  }
  if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED') return undefined;
  const object = decode(raw);
  return object === undefined ? undefined : {type, object};
}
