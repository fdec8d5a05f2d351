import type {ServerResponse} from 'node:http';
import {omit} from '../../../src/base/omit.js';
import {answer, type RecordedRequest} from './api-request.js';
import type {Change, ObjectStorage, StoredObject} from './object-storage.js';
import type {PodLike} from './pod-deletion.js';
import type {ResourcePath} from './resource-path.js';

/** Answers lists and watches. */
export class WatchStreams {
  readonly #storage: ObjectStorage;
  readonly #open = new Set<ServerResponse>();

  constructor(storage: ObjectStorage) {
    this.#storage = storage;
  }

  /** Answers a GET of a collection. */
  listOrWatch({query}: RecordedRequest, {collection, kind}: ResourcePath, response: ServerResponse): void {
    const selects = fieldSelector(query['fieldSelector']);
    if (query['watch'] === 'true') {
      this.#watch(collection, Number(query['resourceVersion'] ?? '0'), {selects, response});
      return;
    }
    // Items of a list have no kind.
    const items = this.#storage
      .list(collection)
      .flatMap((object) => (selects(object) ? [omit(object, 'kind', 'apiVersion')] : []));
    answer(response, 200, {
      kind: `${kind}List`,
      apiVersion: 'v1',
      metadata: {resourceVersion: String(this.#storage.version)},
      items,
    });
  }

  #watch(
    collection: string,
    after: number,
    {
      selects,
      response,
    }: {readonly selects: (object: StoredObject) => boolean; readonly response: ServerResponse},
  ): void {
    const send = ({type, object}: Change): void => {
      if (selects(object) && !response.writableEnded) response.write(`${JSON.stringify({type, object})}\n`);
    };
    response.writeHead(200, {'content-type': 'application/json'});
    response.flushHeaders();
    const stop = this.#storage.watch(collection, after, send);
    if (stop === undefined) {
      response.end(errorEvent(410, 'too old resource version'));
      return;
    }
    this.#open.add(response);
    response.on('close', () => {
      stop();
      this.#open.delete(response);
    });
  }

  /** Ends all watches, normally or with an error event. */
  end(code?: number): void {
    for (const response of this.#open)
      response.end(code === undefined ? undefined : errorEvent(code, 'too old'));
    this.#open.clear();
  }

  /** Sends a bookmark to all watches. */
  sendBookmarks(): void {
    const object = {kind: 'Bookmark', metadata: {resourceVersion: String(this.#storage.version)}};
    for (const response of this.#open) response.write(`${JSON.stringify({type: 'BOOKMARK', object})}\n`);
  }
}

function errorEvent(code: number, message: string): string {
  const object = {kind: 'Status', status: 'Failure', code, reason: 'Expired', message};
  return `${JSON.stringify({type: 'ERROR', object})}\n`;
}

/** Returns a predicate for `metadata.name=x` and `spec.nodeName=x`. */
function fieldSelector(text = ''): (object: StoredObject) => boolean {
  const [field, value] = text.split('=');
  if (field === 'metadata.name') return ({metadata}) => metadata.name === value;
  if (field === 'spec.nodeName') return (object) => (object as PodLike).spec?.nodeName === value;
  return () => true;
}
