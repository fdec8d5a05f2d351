/**
 * A CSI driver of one node, dirs.example.com: volumes are directories that hold no more than was asked for, since each is the
 * file system of an image file. `node --experimental-strip-types driver.ts [ROOT_DIR [DATA_DIR]]` runs it as root, where ROOT_DIR
 * is the root directory of the kubelet or of kcri, and DATA_DIR has the images. README.md has the steps.
 */
import {execFile} from 'node:child_process';
import {existsSync, mkdirSync, rmSync, statSync} from 'node:fs';
import {mkdir, rename, rm, rmdir, statfs, truncate, writeFile} from 'node:fs/promises';
import {hostname} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {Server, ServerCredentials, status, type ServiceDefinition} from '@grpc/grpc-js';
import {loadSync} from '@grpc/proto-loader';

const DRIVER = 'dirs.example.com';
const DEFAULT_BYTES = 64 * 1024 ** 2;
/** Smaller file systems have no room for files. */
const LEAST_BYTES = 2 * 1024 ** 2;
const MOST_BYTES = 1024 ** 4;

const [rootDir = '/var/lib/kubelet', dataDir = '/var/lib/csi-dirs'] = process.argv.slice(2);
/** Sockets of the driver's services, and of its registration with the kubelet. */
const socket = join(rootDir, 'plugins', DRIVER, 'csi.sock');
const registration = join(rootDir, 'plugins_registry', `${DRIVER}-reg.sock`);
/** Images of volumes, and of those that live as long as a pod. */
const volumes = join(dataDir, 'volumes');
const ephemeral = join(dataDir, 'ephemeral');

const protos = fileURLToPath(new URL('../../proto/kubelet/', import.meta.url));
const OPTIONS = {keepCase: true, defaults: true, longs: Number, enums: String};
const services = {
  ...loadSync(join(protos, 'csi.proto'), OPTIONS),
  ...loadSync(join(protos, 'plugin-registration.proto'), OPTIONS),
};
const run = promisify(execFile);

/** Failure of a call, with the code that CSI has for it. */
class CallError extends Error {
  readonly code: status;

  constructor(code: status, message: string) {
    super(message);
    this.code = code;
  }
}

/** Fields of all requests that the driver reads. */
interface Request {
  readonly name: string;
  readonly capacity_range: {readonly required_bytes: number; readonly limit_bytes: number} | null;
  readonly volume_id: string;
  readonly volume_path: string;
  readonly staging_target_path: string;
  readonly target_path: string;
  readonly readonly: boolean;
  readonly volume_context: Readonly<Record<string, string>>;
  readonly volume_capability: {readonly block: object | null} | null;
  readonly plugin_registered: boolean;
  readonly error: string;
}

/** Returns the path of an image. IDs are names of files, whoever sends them. */
function imageOf(directory: string, id: string): string {
  if (!/^[\w-][\w.-]{0,127}$/.test(id)) throw new CallError(status.INVALID_ARGUMENT, `invalid volume "${id}"`);
  return join(directory, `${id}.img`);
}

/** Creates an image with an empty file system, if it does not exist. A killed driver leaves no half of one. */
async function createImage(path: string, bytes: number): Promise<void> {
  if (existsSync(path)) return;
  const temporary = `${path}.new`;
  await writeFile(temporary, '', {mode: 0o600});
  await truncate(temporary, bytes);
  await run('mkfs.ext4', ['-q', '-F', '-m', '0', temporary]);
  await rename(temporary, path);
}

async function isMounted(path: string): Promise<boolean> {
  return await run('mountpoint', ['-q', path]).then(
    () => true,
    () => false,
  );
}

/** Mounts a file system at a directory, which is created, unless it is mounted. */
async function mount(source: string, path: string, ...options: string[]): Promise<void> {
  await mkdir(path, {recursive: true});
  if (!(await isMounted(path))) await run('mount', [...options, source, path]);
}

async function unmount(path: string): Promise<void> {
  if (await isMounted(path)) await run('umount', [path]);
}

/** Mounts an image for use by anybody in a container. */
async function mountImage(image: string, path: string): Promise<void> {
  await mount(image, path, '-o', 'loop');
  await run('chmod', ['0777', path]);
}

const unary: Readonly<Record<string, Readonly<Record<string, (request: Request) => object | Promise<object>>>>> = {
  'csi.v1.Identity': {
    GetPluginInfo: () => ({name: DRIVER, vendor_version: '1.0.0'}),
    GetPluginCapabilities: () => ({capabilities: [{service: {type: 'CONTROLLER_SERVICE'}}]}),
    Probe: () => ({}),
  },
  'csi.v1.Controller': {
    ControllerGetCapabilities: () => ({
      capabilities: ['CREATE_DELETE_VOLUME', 'EXPAND_VOLUME'].map((type) => ({rpc: {type}})),
    }),
    CreateVolume: async ({name, capacity_range: range}) => {
      const image = imageOf(volumes, name);
      const bytes = Math.max(range?.required_bytes || DEFAULT_BYTES, LEAST_BYTES);
      const limit = range?.limit_bytes || Infinity;
      if (bytes > MOST_BYTES) throw new CallError(status.OUT_OF_RANGE, `the largest volume has ${MOST_BYTES} bytes`);
      if (bytes > limit) throw new CallError(status.OUT_OF_RANGE, `the smallest volume has ${bytes} bytes`);
      await createImage(image, bytes);
      const {size} = statSync(image);
      if (size < bytes || size > limit)
        throw new CallError(status.ALREADY_EXISTS, `volume "${name}" exists with ${size} bytes`);
      return {volume: {volume_id: name, capacity_bytes: size}};
    },
    ControllerExpandVolume: async ({volume_id: id, capacity_range: range}) => {
      const image = imageOf(volumes, id);
      if (!existsSync(image)) throw new CallError(status.NOT_FOUND, `volume "${id}" does not exist`);
      const bytes = Math.max(range?.required_bytes || 0, statSync(image).size);
      if (bytes > MOST_BYTES) throw new CallError(status.OUT_OF_RANGE, `the largest volume has ${MOST_BYTES} bytes`);
      await truncate(image, bytes);
      return {capacity_bytes: bytes, node_expansion_required: true};
    },
    DeleteVolume: async ({volume_id: id}) => {
      await rm(imageOf(volumes, id), {force: true});
      return {};
    },
  },
  'csi.v1.Node': {
    NodeGetInfo: () => ({node_id: hostname(), accessible_topology: {segments: {[`${DRIVER}/node`]: hostname()}}}),
    NodeGetCapabilities: () => ({
      capabilities: ['STAGE_UNSTAGE_VOLUME', 'EXPAND_VOLUME', 'GET_VOLUME_STATS', 'VOLUME_CONDITION'].map((type) => ({
        rpc: {type},
      })),
    }),
    NodeStageVolume: async ({volume_id: id, staging_target_path: path, volume_capability: capability}) => {
      if (capability?.block) throw new CallError(status.INVALID_ARGUMENT, 'volumes are not block devices');
      const image = imageOf(volumes, id);
      if (!existsSync(image)) throw new CallError(status.NOT_FOUND, `volume "${id}" does not exist`);
      await mountImage(image, path);
      return {};
    },
    NodeUnstageVolume: async ({staging_target_path: path}) => {
      await unmount(path);
      return {};
    },
    NodePublishVolume: async ({volume_id: id, staging_target_path: staged, target_path: path, ...request}) => {
      if (staged !== '') await mount(staged, path, '-o', request.readonly ? 'bind,ro' : 'bind');
      else {
        // Only a volume in the spec of a pod is not staged.
        const image = imageOf(ephemeral, id);
        const bytes = Number(request.volume_context['sizeMiB'] ?? 64) * 1024 ** 2;
        if (!(bytes >= LEAST_BYTES)) throw new CallError(status.INVALID_ARGUMENT, 'sizeMiB must be at least 2');
        await createImage(image, bytes);
        await mountImage(image, path);
      }
      return {};
    },
    NodeUnpublishVolume: async ({volume_id: id, target_path: path}) => {
      await unmount(path);
      if (existsSync(path)) await rmdir(path);
      await rm(imageOf(ephemeral, id), {force: true});
      return {};
    },
    // The file system grows while containers use it.
    NodeExpandVolume: async ({volume_id: id, volume_path: path}) => {
      const {stdout} = await run('findmnt', ['-n', '-o', 'SOURCE', '--mountpoint', path]);
      const device = stdout.trim();
      await run('losetup', ['-c', device]);
      await run('resize2fs', [device]);
      return {capacity_bytes: statSync(imageOf(volumes, id)).size};
    },
    NodeGetVolumeStats: async ({volume_id: id, volume_path: path}) => {
      if (!(await isMounted(path))) throw new CallError(status.NOT_FOUND, `no volume is mounted at ${path}`);
      const {bsize, blocks, bfree, bavail, files, ffree} = await statfs(path);
      const isLost = ![volumes, ephemeral].some((directory) => existsSync(imageOf(directory, id)));
      return {
        usage: [
          {unit: 'BYTES', total: blocks * bsize, used: (blocks - bfree) * bsize, available: bavail * bsize},
          {unit: 'INODES', total: files, used: files - ffree, available: ffree},
        ],
        volume_condition: {abnormal: isLost, message: isLost ? 'its image was removed' : 'the image exists'},
      };
    },
  },
  // What the sidecar node-driver-registrar serves for other drivers.
  'pluginregistration.Registration': {
    GetInfo: () => ({type: 'CSIPlugin', name: DRIVER, endpoint: socket, supported_versions: ['1.0.0']}),
    NotifyRegistrationStatus: ({plugin_registered: isRegistered, error}) => {
      console.log(isRegistered ? `registered ${DRIVER}` : `not registered: ${error}`);
      return {};
    },
  },
};

/** Calls run one after the other: two for one volume must not overlap. */
let last: Promise<unknown> = Promise.resolve();

/** Serves some of the services on a socket. */
async function serve(path: string, names: readonly string[]): Promise<void> {
  mkdirSync(dirname(path), {recursive: true});
  rmSync(path, {force: true});
  const server = new Server();
  for (const name of names) {
    const methods = Object.entries(unary[name] ?? {}).map(([method, answer]) => [
      method,
      ({request}: {readonly request: Request}, done: (error: object | null, response?: object) => void) => {
        last = last.then(async () => {
          try {
            done(null, await answer(request));
          } catch (error) {
            const {code, message} = error as CallError;
            console.error(`${method} failed: ${message}`);
            done({code: error instanceof CallError ? code : status.INTERNAL, details: message});
          }
        });
      },
    ]);
    server.addService(services[name] as ServiceDefinition, Object.fromEntries(methods));
  }
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), (error) => {
      if (error === null) resolve();
      else reject(error);
    });
  });
}

for (const directory of [volumes, ephemeral]) mkdirSync(directory, {recursive: true, mode: 0o700});
await serve(socket, ['csi.v1.Identity', 'csi.v1.Controller', 'csi.v1.Node']);
await serve(registration, ['pluginregistration.Registration']);
console.log(`serving ${DRIVER} at ${socket}`);

/** Mounts of pods stay; a driver that starts again serves them. */
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    for (const path of [registration, socket]) rmSync(path, {force: true});
    process.exit(0);
  });
