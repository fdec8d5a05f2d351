import type {ServerResponse} from 'node:http';
import {omit} from '../../../src/base/omit.js';
import {answer, answerStatus, type RecordedRequest} from './api-request.js';
import type {Change, ObjectStorage, StoredObject} from './object-storage.js';
import type {ResourcePath} from './resource-path.js';
import {selectorOf} from './selectors.js';
import {tableOf, wantsTable} from './tables.js';

/** Answers lists and watches. */
export class WatchStreams {
  readonly #storage: ObjectStorage;
  /** Open watches, each with a function that ends its events. */
  readonly #open = new Map<Watcher, () => void>();

  constructor(storage: ObjectStorage) {
    this.#storage = storage;
  }

  /** Answers a GET of a collection. */
  listOrWatch(request: RecordedRequest, target: ResourcePath, response: ServerResponse): void {
    const {query} = request;
    const version = Number(query['resourceVersion'] ?? '0');
    if (version > this.#storage.version) {
      const causes = [{reason: 'ResourceVersionTooLarge', message: 'Too large resource version'}];
      answerStatus(response, 504, {
        reason: 'Timeout',
        message: 'Too large resource version',
        details: {causes},
      });
      return;
    }
    if (query['watch'] !== 'true') {
      this.#list(request, target, response);
      return;
    }
    const {apiVersion, collection, kind} = target;
    const isTable = wantsTable(request, kind);
    const render = (object: StoredObject): object => (isTable ? tableOf(kind, [object]) : object);
    const watcher = {selects: selectorOf(query), render, response, type: {apiVersion, kind}};
    if (query['sendInitialEvents'] === 'true') this.#stream(query, collection, watcher);
    else this.#watch(collection, version, watcher);
  }

  #list(request: RecordedRequest, target: ResourcePath, response: ServerResponse): void {
    const {collection, apiVersion, kind} = target;
    const objects = this.#storage.list(collection).filter(selectorOf(request.query));
    const {version} = this.#storage;
    if (wantsTable(request, kind)) answer(response, 200, tableOf(kind, objects, String(version)));
    else {
      // Items of a list have no kind.
      const items = objects.map((object) => omit(object, 'kind', 'apiVersion'));
      answer(response, 200, {kind: `${kind}List`, apiVersion, ...pageOf(items, request.query, version)});
    }
  }

  /** Sends all objects, a bookmark that says so, and then their changes (WatchList). */
  #stream(query: RecordedRequest['query'], collection: string, watcher: Watcher): void {
    const {selects, render, response} = watcher;
    if (query['resourceVersionMatch'] !== 'NotOlderThan' || query['allowWatchBookmarks'] !== 'true') {
      const message = 'sendInitialEvents requires resourceVersionMatch and allowWatchBookmarks';
      answerStatus(response, 422, {reason: 'Invalid', message});
      return;
    }
    response.writeHead(200, {'content-type': 'application/json'});
    const objects = this.#storage.list(collection).filter(selects);
    for (const object of objects) response.write(eventLine('ADDED', render(object)));
    const {version} = this.#storage;
    response.write(bookmark(watcher, version, {'k8s.io/initial-events-end': 'true'}));
    this.#watch(collection, version, watcher);
  }

  #watch(collection: string, after: number, watcher: Watcher): void {
    const {selects, render, response} = watcher;
    const send = ({type, object}: Change): void => {
      if (selects(object) && !response.writableEnded) response.write(eventLine(type, render(object)));
    };
    if (!response.headersSent) response.writeHead(200, {'content-type': 'application/json'});
    response.flushHeaders();
    const stop = this.#storage.watch(collection, after, send);
    if (stop === undefined) {
      response.end(errorEvent(410, 'too old resource version'));
      return;
    }
    this.#open.set(watcher, stop);
    response.on('close', () => {
      stop();
      this.#open.delete(watcher);
    });
  }

  /** Ends all watches, normally or with an error event. */
  end(code?: number): void {
    for (const {response} of this.#open.keys())
      response.end(code === undefined ? undefined : errorEvent(code, 'too old'));
    this.#open.clear();
  }

  /** Sends a bookmark to all watches. */
  sendBookmarks(): void {
    for (const watcher of this.#open.keys()) watcher.response.write(bookmark(watcher, this.#storage.version));
  }

  /** Sends text to all watches, such as a line that is not JSON. */
  sendText(text: string): void {
    for (const {response} of this.#open.keys()) response.write(text);
  }

  /** Leaves the watches of a kind, by default all, open and sends them nothing more. */
  stall(kind?: string): void {
    for (const [{type}, stop] of this.#open) if (kind === undefined || type.kind === kind) stop();
  }

  /** Number of open watches. */
  get count(): number {
    return this.#open.size;
  }
}

/** Returns a page of a list; like the API server's cache, a list at any version (0) has one page. */
function pageOf(items: readonly object[], query: RecordedRequest['query'], version: number): object {
  const {limit = '0', resourceVersion = '', continue: start = '0'} = query;
  const end = resourceVersion === '0' || limit === '0' ? items.length : Number(start) + Number(limit);
  const more = end < items.length ? {continue: String(end)} : {};
  return {metadata: {resourceVersion: String(version), ...more}, items: items.slice(Number(start), end)};
}

interface Watcher {
  readonly selects: (object: StoredObject) => boolean;
  /** Returns an object as the client wants it. */
  readonly render: (object: StoredObject) => object;
  readonly response: ServerResponse;
  /** Type of the objects, which bookmarks have too. */
  readonly type: {readonly apiVersion: string; readonly kind: string};
}

function bookmark({type}: Watcher, version: number, annotations?: object): string {
  return eventLine('BOOKMARK', {...type, metadata: {resourceVersion: String(version), annotations}});
}

function eventLine(type: string, object: object): string {
  return `${JSON.stringify({type, object})}\n`;
}

function errorEvent(code: number, message: string): string {
  return eventLine('ERROR', {kind: 'Status', status: 'Failure', code, reason: 'Expired', message});
}
