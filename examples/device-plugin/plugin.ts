/**
 * A device plugin: offers slots of /dev/zero as the resource example.com/slot. `node --experimental-strip-types plugin.ts [DIR]`
 * runs it, where DIR is the directory of device plugins of the kubelet.
 */
import {existsSync, rmSync, watch} from 'node:fs';
import {join} from 'node:path';
import {setTimeout} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import {
  Client,
  credentials,
  loadPackageDefinition,
  Server,
  ServerCredentials,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
} from '@grpc/grpc-js';
import {loadSync} from '@grpc/proto-loader';

const RESOURCE = 'example.com/slot';
const SLOTS = ['slot-0', 'slot-1'];
const SOCKET = 'slots.sock';

const directory = process.argv[2] ?? '/var/lib/kubelet/device-plugins';
const proto = fileURLToPath(new URL('../../proto/kubelet/device-plugin.proto', import.meta.url));
const services = loadSync(proto, {keepCase: true, defaults: true});

interface AllocateRequest {
  readonly container_requests: readonly {readonly devices_ids: readonly string[]}[];
}

/** Answers which optional calls the plugin wants: none. */
function getOptions(_call: unknown, answer: sendUnaryData<object>): void {
  answer(null, {});
}

/** Sends the devices. A plugin whose devices change writes again; the stream stays open. */
function listAndWatch(call: ServerWritableStream<object, object>): void {
  call.write({devices: SLOTS.map((id) => ({ID: id, health: 'Healthy'}))});
}

/** Answers what a container needs to use its devices. */
function allocate(
  {request}: ServerUnaryCall<AllocateRequest, object>,
  answer: sendUnaryData<object>,
): void {
  answer(null, {
    container_responses: request.container_requests.map(({devices_ids: ids}) => ({
      envs: {SLOTS: ids.join(',')},
      devices: ids.map((id) => ({host_path: '/dev/zero', container_path: `/dev/${id}`, permissions: 'r'})),
    })),
  });
}

/** Serves the plugin on its socket. */
async function serve(): Promise<Server> {
  const path = join(directory, SOCKET);
  rmSync(path, {force: true});
  const server = new Server();
  server.addService(services['v1beta1.DevicePlugin'] as ServiceDefinition, {
    GetDevicePluginOptions: getOptions,
    ListAndWatch: listAndWatch,
    Allocate: allocate,
  });
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), (error) => {
      if (error === null) resolve();
      else reject(error);
    });
  });
  return server;
}

/** Registers the plugin with the kubelet, which then connects to the plugin's socket. */
async function register(): Promise<void> {
  const {Registration} = loadPackageDefinition({Registration: services['v1beta1.Registration']!}) as unknown as {
    readonly Registration: typeof Client;
  };
  const kubelet = new Registration(`unix:${join(directory, 'kubelet.sock')}`, credentials.createInsecure());
  const call = Reflect.get(kubelet, 'Register') as (request: object, done: (error: Error | null) => void) => void;
  await new Promise<void>((resolve, reject) => {
    call.call(kubelet, {version: 'v1beta1', endpoint: SOCKET, resource_name: RESOURCE}, (error) => {
      kubelet.close();
      if (error === null) resolve();
      else reject(error);
    });
  });
  console.log(`registered ${RESOURCE}`);
}

let server = await serve();
await register();

/** Serves and registers again; tries until the kubelet that was started answers. */
async function restart(): Promise<void> {
  if (!existsSync(join(directory, 'kubelet.sock'))) return;
  server.forceShutdown();
  server = await serve();
  await register().catch(async () => {
    await setTimeout(500);
    await restart();
  });
}

// A kubelet that starts removes the sockets of all plugins, and then makes its own.
let restarted = Promise.resolve();
watch(directory, (_event, name) => {
  if (name === 'kubelet.sock') restarted = restarted.then(restart);
});
