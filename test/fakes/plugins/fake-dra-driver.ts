import {mkdir} from 'node:fs/promises';
import {dirname} from 'node:path';
import type {ServiceDefinition} from '@grpc/grpc-js';
import {SocketServer} from '../runtime/socket-server.js';
import {kubeletService} from './kubelet-protos.js';
import {MessageStreams, unaryMethod} from './plugin-methods.js';

/** A claim in a request of the kubelet. */
export interface DraClaim {
  readonly namespace: string;
  readonly uid: string;
  readonly name: string;
}

/** Health of a device, as the driver reports it. */
export interface FakeDeviceHealth {
  readonly device: string;
  readonly health: 'UNKNOWN' | 'HEALTHY' | 'UNHEALTHY';
  readonly message?: string;
}

type Answer = (claims: readonly DraClaim[]) => object | Promise<object>;

/** Options of a fake driver. */
export interface FakeDraDriverOptions {
  /** Socket of the driver. */
  readonly path: string;
  readonly version?: 'v1' | 'v1beta1';
  /** Answers instead of the usual ones; a promise that never settles makes the driver hang. */
  readonly answers?: Readonly<Partial<Record<'NodePrepareResources' | 'NodeUnprepareResources', Answer>>>;
  /** Health of the devices of the pool `pool`; a driver without it has no health service. */
  readonly health?: readonly FakeDeviceHealth[];
}

/** A DRA driver on a real gRPC server. Each claim has the device `dev` of the pool `pool`. */
export class FakeDraDriver implements AsyncDisposable {
  readonly calls: {readonly method: string; readonly claims: readonly DraClaim[]}[] = [];
  readonly #server: SocketServer;
  readonly #streams = new MessageStreams(() => this.#message());
  #health: readonly FakeDeviceHealth[];

  private constructor(options: FakeDraDriverOptions) {
    this.#health = options.health ?? [];
    const usual: Readonly<Record<string, Answer>> = {
      NodePrepareResources: (claims) => ({claims: claims.map(prepared)}),
      NodeUnprepareResources: (claims) => ({claims: claims.map(({uid}) => ({key: uid, value: {}}))}),
      ...options.answers,
    };
    const methods = Object.entries(usual).map(([method, answer]) => [
      method,
      unaryMethod((request) => {
        const claims = request['claims'] as readonly DraClaim[];
        this.calls.push({method, claims});
        return answer(claims);
      }),
    ]);
    const health = {
      definition: kubeletService('dra-health', 'v1alpha1.DRAResourceHealth'),
      implementation: {NodeWatchResources: this.#streams.open},
    };
    this.#server = new SocketServer(options.path, [
      {
        definition: draService(options.version ?? 'v1'),
        implementation: Object.fromEntries(methods) as Record<string, () => void>,
      },
      ...(options.health === undefined ? [] : [health]),
    ]);
  }

  /** Starts a driver, which does not register. */
  static async start(options: FakeDraDriverOptions): Promise<FakeDraDriver> {
    await mkdir(dirname(options.path), {recursive: true});
    const driver = new FakeDraDriver(options);
    await driver.#server.listen();
    return driver;
  }

  callsTo(method: string): readonly (readonly DraClaim[])[] {
    return this.calls.flatMap((call) => (call.method === method ? [call.claims] : []));
  }

  /** Number of kubelets that watch the health. */
  get watchers(): number {
    return this.#streams.size;
  }

  /** Number of connections of calls in progress. */
  get openConnections(): number {
    return this.#server.openConnections;
  }

  /** Reports another health. */
  report(health: readonly FakeDeviceHealth[]): void {
    this.#health = health;
    this.#streams.send();
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
      devices: this.#health.map(({device, ...rest}) => ({
        device: {pool_name: 'pool', device_name: device},
        ...rest,
      })),
    };
  }
}

/** Returns the usual answer about a claim. */
export function prepared({uid, name}: DraClaim): object {
  const device = {request_names: ['req'], pool_name: 'pool', device_name: 'dev'};
  return {key: uid, value: {devices: [{...device, cdi_device_ids: [`example.com/dra=${name}`]}]}};
}

/** Returns the service in a version: only its name differs. */
function draService(version: 'v1' | 'v1beta1'): ServiceDefinition {
  const definition = kubeletService('dra', 'k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin');
  const methods = Object.entries(definition).map(([name, method]) => [
    name,
    {...method, path: method.path.replace('.v1.', `.${version}.`)},
  ]);
  return Object.fromEntries(methods) as ServiceDefinition;
}
