import {createRequire} from 'node:module';
import {dirname, join} from 'node:path';
import {credentials, loadPackageDefinition, type Client, type ServiceDefinition} from '@grpc/grpc-js';
import {loadSync} from '@grpc/proto-loader';
import type {Plain} from '../containerd/containerd-services.js';

/** Interfaces between the kubelet and plugins, by their files in proto/kubelet. */
export type KubeletProto =
  | 'csi'
  | 'device-plugin'
  | 'dra'
  | 'dra-health'
  | 'plugin-registration'
  | 'pod-resources'
  | 'pod-resources-v1alpha1';

const OPTIONS = {keepCase: true, longs: String, enums: String, defaults: true};

/** Returns the definition of a service, such as `v1beta1.DevicePlugin`, as published programs have it. */
export function kubeletService(proto: KubeletProto, service: string): ServiceDefinition {
  const require = createRequire(import.meta.url);
  const directory = join(dirname(require.resolve('kcri/package.json')), 'proto/kubelet');
  const loaded = loadSync(`${proto}.proto`, {...OPTIONS, includeDirs: [directory]});
  return loaded[service] as ServiceDefinition;
}

type Method = (request: object, callback: (error: Error | null, response: Plain) => void) => unknown;

/** A client of a service of the kubelet. */
export interface KubeletClient extends Disposable {
  /** Calls a unary method. Rejects with grpc-js' ServiceError. */
  call(method: string, request?: object): Promise<Plain>;
}

/** Connects to a service of the kubelet on a socket. */
export function connectKubelet(path: string, proto: KubeletProto, service: string): KubeletClient {
  const definition = kubeletService(proto, service);
  const {Service} = loadPackageDefinition({Service: definition}) as unknown as {
    readonly Service: new (...parameters: ConstructorParameters<typeof Client>) => Client;
  };
  const client = new Service(`unix:${path}`, credentials.createInsecure());
  return {
    call: async (method, request = {}) =>
      await new Promise<Plain>((resolve, reject) => {
        const call = (client as unknown as Readonly<Record<string, Method>>)[method];
        call?.bind(client)(request, (error, response) => {
          if (error === null) resolve(response);
          else reject(error);
        });
      }),
    [Symbol.dispose]: () => {
      client.close();
    },
  };
}
