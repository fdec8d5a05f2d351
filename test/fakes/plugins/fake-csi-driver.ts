import {execFileSync} from 'node:child_process';
import {existsSync, rmSync, statSync} from 'node:fs';
import {mkdir, rmdir} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import type {UntypedServiceImplementation} from '@grpc/grpc-js';
import {isObject} from '../../../src/base/is-object.js';
import type {GrpcCode} from '../../../src/cri/errors.js';
import type {Plain} from '../containerd/containerd-services.js';
import {GrpcStatusError} from '../runtime/grpc-status-error.js';
import {SocketServer} from '../runtime/socket-server.js';
import type {PluginCall} from './fake-device-plugin.js';
import {FakeRegistrar} from './fake-registrar.js';
import {kubeletService} from './kubelet-protos.js';
import {unaryMethod} from './plugin-methods.js';

export const CSI_DRIVER = 'disk.example.com';

/** Returns the usual sockets of a driver below a root directory. */
export function csiSockets(rootDir: string): Required<Pick<FakeCsiDriverOptions, 'path' | 'registration'>> {
  return {path: join(rootDir, 'plugins/csi.sock'), registration: join(rootDir, 'plugins_registry/csi.sock')};
}

/** Options of a fake driver. */
export interface FakeCsiDriverOptions {
  /** Socket of the driver. */
  readonly path: string;
  /** Socket at which it registers; none by default. */
  readonly registration?: string;
  readonly name?: string;
  readonly versions?: readonly string[];
  readonly capabilities?: readonly string[];
  readonly info?: object;
  /** True to mount a tmpfs when a volume is published, which needs root; otherwise it is a directory. */
  readonly mounts?: boolean;
  /** Block device that is published in block mode, which needs root; none by default. */
  readonly device?: string;
  /** Answers of methods, also of the controller, instead of the usual ones; a promise that never settles makes the driver hang. */
  readonly answers?: Readonly<Record<string, (request: Plain) => object | Promise<object>>>;
}

const MIB = 1024 ** 2;

/** Answers of a driver that creates volumes of 1 MiB, and enlarges them to 2 MiB together with the node. */
export const EXPANDING_ANSWERS: NonNullable<FakeCsiDriverOptions['answers']> = {
  CreateVolume: () => ({volume: {volume_id: 'h', capacity_bytes: MIB}}),
  DeleteVolume: () => ({}),
  ControllerGetCapabilities: () => ({capabilities: [{rpc: {type: 'EXPAND_VOLUME'}}]}),
  ControllerExpandVolume: () => ({capacity_bytes: 2 * MIB, node_expansion_required: true}),
};

/** A CSI driver, whose volumes are directories, on a real gRPC server. */
export class FakeCsiDriver implements AsyncDisposable {
  readonly calls: PluginCall[] = [];
  /** Calls of both sockets in order. */
  readonly allCalls: PluginCall[] = [];
  readonly #options: FakeCsiDriverOptions;
  readonly #server: SocketServer;
  readonly #faults: {readonly method: string; readonly error: GrpcStatusError}[] = [];
  registrar: FakeRegistrar | undefined;

  private constructor(options: FakeCsiDriverOptions) {
    this.#options = options;
    const implementation = this.#implementation();
    const services = ['csi.v1.Node', 'csi.v1.Controller'].map((name) => ({
      definition: kubeletService('csi', name),
      implementation,
    }));
    this.#server = new SocketServer(options.path, services);
  }

  /** Starts a driver, and registers it. */
  static async start(options: FakeCsiDriverOptions): Promise<FakeCsiDriver> {
    const driver = new FakeCsiDriver(options);
    await mkdir(dirname(options.path), {recursive: true});
    await driver.#server.listen();
    await driver.register();
    return driver;
  }

  /** Starts the registration socket, if the driver has one. */
  async register(): Promise<void> {
    const {path, registration, name = CSI_DRIVER, versions = ['1.0.0']} = this.#options;
    const info = {type: 'CSIPlugin', name, endpoint: path, supported_versions: versions};
    if (registration === undefined) return;
    this.registrar = await FakeRegistrar.start(registration, info, (call) => {
      this.allCalls.push(call);
    });
  }

  /** Removes the registration socket. */
  async unregister(): Promise<void> {
    await this.registrar?.stop();
  }

  /** Makes the next calls of a method fail. */
  fail(method: string, code: GrpcCode, message: string, times = 1): void {
    const error = new GrpcStatusError(code, message);
    for (let left = times; left > 0; left--) this.#faults.push({method, error});
  }

  callsTo(method: string): readonly Plain[] {
    return this.calls.flatMap((call) => (call.method === method ? [call.request] : []));
  }

  /** Methods that were called, without those that only ask. */
  get changes(): readonly string[] {
    return this.calls.map(({method}) => method).filter((method) => !method.startsWith('NodeGet'));
  }

  /** Number of connections of calls in progress. */
  get openConnections(): number {
    return this.#server.openConnections;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.unregister();
    await this.#server.dropConnections();
    await this.#server.removeSocketFile();
  }

  #implementation(): UntypedServiceImplementation {
    const {
      capabilities = ['STAGE_UNSTAGE_VOLUME'],
      info = {node_id: 'n1'},
      mounts,
      device,
      answers,
    } = this.#options;
    const usual: Readonly<Record<string, (request: Plain) => object | Promise<object>>> = {
      NodeGetInfo: () => info,
      NodeGetCapabilities: () => ({capabilities: capabilities.map((type) => ({rpc: {type}}))}),
      NodeGetVolumeStats: () => ({usage: [{unit: 'BYTES', total: 100, used: 40, available: 60}]}),
      NodeExpandVolume: () => ({}),
      NodeStageVolume: () => ({}),
      NodeUnstageVolume: () => ({}),
      NodePublishVolume: async ({target_path: path, volume_capability: capability}) =>
        isBlock(capability)
          ? publishDevice(String(path), device)
          : await publish(String(path), mounts === true),
      NodeUnpublishVolume: async ({target_path: path}) => await unpublish(String(path), mounts === true),
      ...answers,
    };
    const methods = Object.entries(usual).map(([method, answer]) => [method, this.#unary(method, answer)]);
    return Object.fromEntries(methods) as UntypedServiceImplementation;
  }

  #unary(method: string, answer: (request: Plain) => object | Promise<object>) {
    return unaryMethod(async (request) => {
      this.calls.push({method, request});
      this.allCalls.push({method, request});
      const index = this.#faults.findIndex((fault) => fault.method === method);
      const [fault] = index === -1 ? [] : this.#faults.splice(index, 1);
      if (fault !== undefined) throw fault.error;
      return await answer(request);
    });
  }
}

async function publish(path: string, mounts: boolean): Promise<object> {
  const made = await mkdir(path, {recursive: true});
  if (mounts && made !== undefined) execFileSync('mount', ['-t', 'tmpfs', 'csi', path]);
  return {};
}

function isBlock(capability: unknown): boolean {
  return isObject(capability) && isObject(capability['block']);
}

/** Makes a device with the number of another one. */
function publishDevice(path: string, device: string | undefined): object {
  if (device === undefined || existsSync(path)) return {};
  const {rdev} = statSync(device);
  execFileSync('mknod', [path, 'b', String(rdev >> 8), String(rdev & 0xff)]);
  return {};
}

async function unpublish(path: string, mounts: boolean): Promise<object> {
  if (mounts) execFileSync('umount', [path]);
  if (existsSync(path) && statSync(path).isBlockDevice()) rmSync(path);
  else await rmdir(path).catch(() => undefined); // unpublished before
  return {};
}
