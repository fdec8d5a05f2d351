import {join} from 'node:path';
import type {UntypedServiceImplementation} from '@grpc/grpc-js';
import type {Plain} from '../containerd/containerd-services.js';
import {SocketServer} from '../runtime/socket-server.js';
import {connectKubelet, kubeletService} from './kubelet-protos.js';
import {MessageStreams, unaryMethod} from './plugin-methods.js';

/** A device of a fake plugin. */
export interface FakeDevice {
  readonly id: string;
  readonly health?: string;
  readonly numaNodes?: readonly number[];
}

/** Options of a fake plugin. */
export interface FakeDevicePluginOptions {
  /** Directory of the device plugins of the kubelet. */
  readonly directory: string;
  readonly resource?: string;
  /** Name of the socket. */
  readonly socket?: string;
  readonly devices?: readonly FakeDevice[];
  readonly preStartRequired?: boolean;
  readonly prefersLast?: boolean;
  /** Answers of methods instead of the usual ones; a promise that never settles makes the plugin hang. */
  readonly answers?: Readonly<Record<string, (request: Plain) => object | Promise<object>>>;
}

/** A call of the kubelet. */
export interface PluginCall {
  readonly method: string;
  readonly request: Plain;
}

/** A device plugin whose devices a test controls, on a real gRPC server. */
export class FakeDevicePlugin implements AsyncDisposable {
  readonly calls: PluginCall[] = [];
  readonly #options: Required<Omit<FakeDevicePluginOptions, 'answers'>> &
    Pick<FakeDevicePluginOptions, 'answers'>;
  readonly #server: SocketServer;
  readonly #streams = new MessageStreams(() => this.#message());
  #devices: readonly FakeDevice[];

  private constructor(options: FakeDevicePluginOptions) {
    this.#options = {
      ...{resource: 'example.com/dev', socket: 'dev.sock', devices: [{id: 'd1'}, {id: 'd2'}]},
      ...{preStartRequired: false, prefersLast: false},
      ...options,
    };
    this.#devices = this.#options.devices;
    this.#server = new SocketServer(this.path, [
      {
        definition: kubeletService('device-plugin', 'v1beta1.DevicePlugin'),
        implementation: this.#implementation(),
      },
    ]);
  }

  /** Starts a plugin, which does not register. */
  static async start(options: FakeDevicePluginOptions): Promise<FakeDevicePlugin> {
    const plugin = new FakeDevicePlugin(options);
    await plugin.#server.removeSocketFile();
    await plugin.#server.listen();
    return plugin;
  }

  get path(): string {
    return join(this.#options.directory, this.#options.socket);
  }

  /** Registers with the kubelet. Rejects with its error. */
  async register(request: object = {}): Promise<void> {
    const {directory, resource, socket} = this.#options;
    using kubelet = connectKubelet(join(directory, 'kubelet.sock'), 'device-plugin', 'v1beta1.Registration');
    await kubelet.call('Register', {
      version: 'v1beta1',
      endpoint: socket,
      resource_name: resource,
      ...request,
    });
  }

  /** Sends a new list of devices. */
  list(devices: readonly FakeDevice[]): void {
    this.#devices = devices;
    this.#streams.send();
  }

  callsTo(method: string): readonly Plain[] {
    return this.calls.flatMap((call) => (call.method === method ? [call.request] : []));
  }

  /** Number of open streams of devices. */
  get watchers(): number {
    return this.#streams.size;
  }

  /** Ends all connections, as the end of the process does. */
  async kill(): Promise<void> {
    await this.#server.dropConnections();
    await this.#server.removeSocketFile();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  #message(): object {
    return {
      devices: this.#devices.map(({id, health = 'Healthy', numaNodes}) => ({
        ID: id,
        health,
        ...(numaNodes && {topology: {nodes: numaNodes.map((node) => ({ID: node}))}}),
      })),
    };
  }

  #implementation(): UntypedServiceImplementation {
    const {preStartRequired, prefersLast, answers = {}} = this.#options;
    const usual: Readonly<Record<string, (request: Plain) => object | Promise<object>>> = {
      GetDevicePluginOptions: () => ({
        pre_start_required: preStartRequired,
        get_preferred_allocation_available: prefersLast,
      }),
      Allocate: ({container_requests: requests}) => ({
        container_responses: (requests as readonly {readonly devices_ids: readonly string[]}[]).map(
          ({devices_ids: ids}) => allocationOf(ids),
        ),
      }),
      GetPreferredAllocation: ({container_requests: requests}) => ({
        container_responses: (requests as readonly PreferenceRequest[]).map((request) => ({
          deviceIDs: request.available_deviceIDs.toSorted().slice(-request.allocation_size),
        })),
      }),
      PreStartContainer: () => ({}),
      ...answers,
    };
    const unary = Object.entries(usual).map(([method, answer]) => [
      method,
      unaryMethod((request) => {
        this.calls.push({method, request});
        return answer(request);
      }),
    ]);
    return {
      ...Object.fromEntries(unary),
      ListAndWatch: this.#streams.open,
    } as UntypedServiceImplementation;
  }
}

interface PreferenceRequest {
  readonly available_deviceIDs: readonly string[];
  readonly allocation_size: number;
}

/** Returns what a container with these devices gets. */
function allocationOf(ids: readonly string[]): object {
  const [first = ''] = ids;
  return {
    envs: {DEVS: ids.join(',')},
    annotations: {'example.com/devices': ids.join(',')},
    devices: [{container_path: `/dev/${first}`, host_path: '/dev/null', permissions: 'rw'}],
    mounts: [{container_path: '/devices', host_path: '/usr/lib', read_only: true}],
    cdi_devices: [{name: `example.com/dev=${first}`}],
  };
}
