import type {ApiObject} from '../../api/v1-objects.js';
import {apiObjects, NO_OBJECTS, type ApiObjects} from '../container/api-objects.js';
import type {PodSourceName} from '../container/pod-update.js';

/** What the pods of all sources may refer to, as the sources last had it. */
export class SourceObjects {
  readonly #bySource = new Map<PodSourceName, readonly ApiObject[]>();
  readonly #sources: readonly string[];
  #current: ApiObjects = NO_OBJECTS;

  /** `sources` says where objects are looked for, for people. */
  constructor(sources: readonly string[]) {
    this.#sources = sources;
  }

  /** Always says what is known at that moment. */
  get objects(): ApiObjects {
    return {
      sources: this.#sources,
      configMap: (namespace, name) => this.#current.configMap(namespace, name),
      secret: (namespace, name) => this.#current.secret(namespace, name),
      serviceAccount: (namespace, name) => this.#current.serviceAccount(namespace, name),
      runtimeClass: (name) => this.#current.runtimeClass(name),
    };
  }

  set(source: PodSourceName, objects: readonly ApiObject[]): void {
    this.#bySource.set(source, objects);
    this.#current = apiObjects([...this.#bySource.values()].flat(), this.#sources);
  }
}
