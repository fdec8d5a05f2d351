import {createHash} from 'node:crypto';
import {gunzipSync} from 'node:zlib';
import type {OciImage} from '../../../src/private-runtime/image/oci-image.js';
import {anImage} from '../runtime-builders.js';
import type {FakeRuntimeState} from '../runtime/fake-runtime-state.js';
import {GrpcStatusError, notFoundError} from '../runtime/grpc-status-error.js';
import type {ServedService} from '../runtime/socket-server.js';
import {containerdServices, type ContainerdHandlers, type Plain} from './containerd-services.js';

type Labels = Readonly<Record<string, string>>;

interface Target {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: string;
}

/** Name of an image in the fake. */
interface NamedImage {
  readonly name: string;
  readonly labels: Labels;
  readonly target: Target;
}

/** A blob in the fake's content store. */
interface StoredBlob {
  readonly data: Buffer;
  labels: Labels;
}

/** An unfinished blob. */
interface Ingest {
  chunks: readonly Buffer[];
  total: string;
  expected: string;
}

/** A snapshot in the fake. Its data is the list of diff IDs that were applied. */
interface FakeSnapshot {
  readonly parent: string;
  readonly kind: 'VIEW' | 'ACTIVE' | 'COMMITTED';
  readonly labels: Labels;
}

/** A container as containerd's own API lists it. */
interface FakeContainer {
  readonly id: string;
  readonly image?: string;
  readonly snapshotter?: string;
  readonly snapshotKey?: string;
}

/** A process that exec has started in a container. */
export interface FakeProcess {
  readonly status: 'RUNNING' | 'STOPPED';
  readonly exitStatus?: number;
  readonly stdin?: string;
  readonly terminal?: boolean;
}

/** Maximum size of a message of Content.Read, smaller than containerd's so that small blobs have several. */
const READ_CHUNK = 1000;

/**
 * containerd's own services, with all data in memory. Names of images with content are known to the CRI services of the
 * same fake runtime, as by containerd's events.
 */
export class FakeContainerd {
  readonly images = new Map<string, NamedImage>();
  readonly blobs = new Map<string, StoredBlob>();
  readonly ingests = new Map<string, Ingest>();
  readonly snapshots = new Map<string, FakeSnapshot>();
  readonly containers = new Map<string, FakeContainer>();
  readonly leases = new Set<string>();
  /** Processes of exec by ID. */
  readonly processes = new Map<string, FakeProcess>();
  /** Calls as `Images.Get`, with the lease they were made with. */
  readonly calls: {readonly rpc: string; readonly request: Plain; readonly lease: string | undefined}[] = [];
  readonly #failures = new Map<string, Error>();
  #state: FakeRuntimeState | undefined;
  readonly #synced = new Set<string>();

  /** Stores an image and its blobs under a name, as a pull does. */
  addImage(name: string, {manifest, blobs}: OciImage): void {
    for (const {digest, data} of [manifest, ...blobs]) this.putBlob(digest, Buffer.from(data));
    const {mediaType, digest, data} = manifest;
    const target = {mediaType, digest, size: String(data.length)};
    this.images.set(name, {name, target, labels: {'io.cri-containerd.image': 'managed'}});
    this.#sync();
  }

  /** Stores a blob. */
  putBlob(digest: string, data: Buffer, labels: Labels = {}): void {
    this.blobs.set(digest, {data, labels});
  }

  /** Makes calls to an RPC, such as `Diff.Apply`, fail. */
  injectError(rpc: string, code: GrpcStatusError['code'], message: string): void {
    this.#failures.set(rpc, new GrpcStatusError(code, message));
  }

  /** Connects the fake to the CRI services of a fake runtime. */
  connectTo(state: FakeRuntimeState): void {
    this.#state = state;
    this.#sync();
  }

  /** Returns the services for a server. */
  services(): readonly ServedService[] {
    const handlers: ContainerdHandlers = {
      ...this.#imageHandlers(),
      ...this.#contentHandlers(),
      ...this.#snapshotHandlers(),
      ...this.#otherHandlers(),
    };
    const recorded = Object.entries(handlers).map(([rpc, handler]) => [
      rpc,
      (request: Plain, metadata: Plain) => {
        const lease = metadata['containerd-lease'];
        this.calls.push({rpc, request, lease: typeof lease === 'string' ? lease : undefined});
        if (metadata['containerd-namespace'] !== 'k8s.io')
          throw new GrpcStatusError('FAILED_PRECONDITION', 'namespace is required');
        const failure = this.#failures.get(rpc);
        if (failure !== undefined) throw failure;
        return handler(request, metadata);
      },
    ]);
    return containerdServices(Object.fromEntries(recorded) as ContainerdHandlers);
  }

  #imageHandlers(): ContainerdHandlers {
    const put = ({image}: Plain): object => {
      const {name, labels, target} = image as NamedImage;
      this.images.set(name, {name, labels, target});
      this.#sync();
      return {image};
    };
    return {
      'Images.Get': ({name}) => ({image: found(this.images, String(name), 'image')}),
      'Images.List': ({filters}) => ({
        images: [...this.images.values()].filter((image) =>
          matchesImage(image, filters as readonly string[]),
        ),
      }),
      'Images.Create': (request) => {
        const {name} = request['image'] as NamedImage;
        if (this.images.has(name))
          throw new GrpcStatusError('ALREADY_EXISTS', `image "${name}": already exists`);
        return put(request);
      },
      'Images.Update': (request) => {
        found(this.images, (request['image'] as NamedImage).name, 'image');
        return put(request);
      },
      'Images.Delete': ({name}) => {
        found(this.images, String(name), 'image');
        this.images.delete(String(name));
        this.#sync();
        return {};
      },
    };
  }

  #contentHandlers(): ContainerdHandlers {
    const info = (digest: string) => {
      const {data, labels} = found(this.blobs, digest, 'content');
      return {digest, size: String(data.length), labels};
    };
    return {
      'Content.Info': ({digest}) => ({info: info(String(digest))}),
      'Content.List': () => [{info: [...this.blobs.keys()].map(info)}],
      'Content.Update': (request) => {
        const {digest, labels} = request['info'] as {digest: string; labels: Labels};
        const blob = found(this.blobs, digest, 'content');
        blob.labels = {...blob.labels, ...labels};
        return {info: info(digest)};
      },
      'Content.Delete': ({digest}) => {
        this.blobs.delete(String(digest));
        return {};
      },
      'Content.Read': ({digest, offset, size}) => {
        const {data} = found(this.blobs, String(digest), 'content');
        const start = Number(offset);
        const end = Number(size) === 0 ? data.length : start + Number(size);
        return chunksOf(data.subarray(start, end)).map((chunk) => ({offset: '0', data: chunk}));
      },
      'Content.ListStatuses': () => ({
        statuses: [...this.ingests].map(([ref, {chunks, total, expected}]) => ({
          ref,
          total,
          expected,
          offset: String(Buffer.concat(chunks).length),
          updatedAt: {seconds: String(Math.floor(Date.now() / 1000))},
        })),
      }),
      'Content.Write': this.#writer(),
      'Content.Abort': ({ref}) => {
        this.ingests.delete(String(ref));
        return {};
      },
    };
  }

  #writer() {
    let current = '';
    return ({action, ref, total, expected, data, labels}: Plain): object => {
      if (ref !== '') current = String(ref);
      const ingest = this.ingests.get(current) ?? {chunks: [], total: '0', expected: ''};
      if (expected !== '') ingest.expected = String(expected);
      if (total !== '0') ingest.total = String(total);
      if (this.blobs.has(ingest.expected))
        throw new GrpcStatusError('ALREADY_EXISTS', `content ${ingest.expected}: already exists`);
      this.ingests.set(current, ingest);
      ingest.chunks = [...ingest.chunks, data as Buffer];
      const all = Buffer.concat(ingest.chunks);
      if (action !== 'COMMIT') return {action, offset: String(all.length)};
      const digest = digestOf(all);
      this.ingests.delete(current);
      if (ingest.expected !== '' && digest !== ingest.expected)
        throw new GrpcStatusError(
          'FAILED_PRECONDITION',
          `unexpected commit digest ${digest}, expected ${ingest.expected}: failed precondition`,
        );
      this.putBlob(digest, all, labels as Labels);
      return {action, offset: String(all.length), digest};
    };
  }

  #snapshotHandlers(): ContainerdHandlers {
    const create = (kind: 'VIEW' | 'ACTIVE') => (request: Plain) => {
      const key = String(request['key']);
      const parent = String(request['parent']);
      if (this.snapshots.has(key))
        throw new GrpcStatusError('ALREADY_EXISTS', `snapshot ${key}: already exists`);
      if (parent !== '') found(this.snapshots, parent, 'snapshot');
      this.snapshots.set(key, {parent, kind, labels: request['labels'] as Labels});
      return {mounts: mountsOf(key)};
    };
    const info = (name: string) => ({name, ...found(this.snapshots, name, 'snapshot')});
    return {
      'Snapshots.Prepare': create('ACTIVE'),
      'Snapshots.View': create('VIEW'),
      'Snapshots.Mounts': ({key}) => {
        found(this.snapshots, String(key), 'snapshot');
        return {mounts: mountsOf(String(key))};
      },
      'Snapshots.Commit': ({name, key, labels}) => {
        const {parent} = found(this.snapshots, String(key), 'snapshot');
        this.snapshots.delete(String(key));
        this.snapshots.set(String(name), {parent, kind: 'COMMITTED', labels: labels as Labels});
        return {};
      },
      'Snapshots.Remove': ({key}) => {
        found(this.snapshots, String(key), 'snapshot');
        this.snapshots.delete(String(key));
        return {};
      },
      'Snapshots.Stat': ({key}) => ({info: info(String(key))}),
      'Snapshots.List': () => [{info: [...this.snapshots.keys()].map(info)}],
      'Snapshots.Usage': ({key}) => {
        found(this.snapshots, String(key), 'snapshot');
        return {size: '4096', inodes: '1'};
      },
      'Snapshots.Cleanup': () => ({}),
    };
  }

  #otherHandlers(): ContainerdHandlers {
    return {
      'Leases.Create': ({id}) => {
        this.leases.add(String(id));
        return {lease: {id}};
      },
      'Leases.Delete': ({id}) => {
        if (!this.leases.delete(String(id))) throw notFoundError(`lease ${String(id)}`);
        return {};
      },
      'Leases.List': () => ({leases: [...this.leases].map((id) => ({id}))}),
      'Containers.Get': ({id}) => ({container: found(this.containers, String(id), 'container')}),
      'Containers.List': () => ({containers: [...this.containers.values()]}),
      'Diff.Apply': ({diff}) => {
        const {mediaType, digest} = diff as Target;
        const {data} = found(this.blobs, digest, 'content');
        const plain = mediaType.endsWith('gzip') ? gunzipSync(data) : data;
        const applied = {digest: digestOf(plain), size: String(plain.length)};
        return {applied: {mediaType: 'application/vnd.oci.image.layer.v1.tar', ...applied}};
      },
      'Tasks.Get': ({execId}) => ({process: found(this.processes, String(execId), 'process')}),
      'Tasks.ListPids': () => ({
        processes: [
          {pid: 1},
          ...[...this.processes].map(([execId], index) => ({pid: 10 + index, info: {value: {execId}}})),
        ],
      }),
      'Introspection.Plugins': () => ({
        plugins: [{type: 'io.containerd.snapshotter.v1', id: 'overlayfs', exports: {root: '/var/lib/fake'}}],
      }),
    };
  }

  /** Gives the CRI services the images whose content is complete. */
  #sync(): void {
    const state = this.#state;
    if (state === undefined) return;
    for (const id of this.#synced) state.images.delete(id);
    this.#synced.clear();
    for (const {name, target} of this.images.values()) {
      const config = this.#configOf(target.digest);
      if (config === undefined) continue;
      const id = state.profile.imageId(config);
      const others = this.#synced.has(id) ? (state.images.get(id)?.repoTags ?? []) : [];
      state.images.set(id, {...anImage({name}), id, repoTags: [...others, name], spec: this.#json(config)});
      this.#synced.add(id);
    }
  }

  #configOf(digest: string): string | undefined {
    const {config, manifests} = this.#json(digest) as {
      config?: {digest: string};
      manifests?: readonly {digest: string}[];
    };
    if (config !== undefined) return config.digest;
    return manifests?.[0] && this.#configOf(manifests[0].digest);
  }

  #json(digest: string): object {
    const blob = this.blobs.get(digest);
    return blob === undefined ? {} : (JSON.parse(blob.data.toString()) as object);
  }
}

/** Returns the digest of data. */
export function digestOf(data: Uint8Array): string {
  return `sha256:${createHash('sha256').update(data).digest('hex')}`;
}

function matchesImage({name, target}: NamedImage, filters: readonly string[]): boolean {
  return (
    filters.length === 0 ||
    filters.some((filter) => filter === `name==${name}` || filter === `target.digest==${target.digest}`)
  );
}

function mountsOf(key: string): readonly object[] {
  return [{type: 'bind', source: `/var/lib/fake/${key}`, options: ['rbind', 'rw']}];
}

function chunksOf(data: Buffer): readonly Buffer[] {
  const count = Math.ceil(data.length / READ_CHUNK);
  return Array.from({length: count}, (_, index) =>
    data.subarray(index * READ_CHUNK, (index + 1) * READ_CHUNK),
  );
}

function found<T>(all: ReadonlyMap<string, T>, key: string, kind: string): T {
  const value = all.get(key);
  if (value === undefined) throw notFoundError(`${kind} ${key}`);
  return value;
}
