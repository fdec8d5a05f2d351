import {mkdir} from 'node:fs/promises';
import {basename, dirname, join} from 'node:path';
import type {Plain} from '../containerd/containerd-services.js';
import {SocketServer} from '../runtime/socket-server.js';
import type {PluginCall} from './fake-device-plugin.js';
import {kubeletService} from './kubelet-protos.js';

type Callback = (error: object | null, response: object) => void;

/** A plugin's registration socket, which records what the kubelet tells it. */
export class FakeRegistrar implements AsyncDisposable {
  readonly statuses: Plain[] = [];
  /** True to answer no call of the kubelet from now on. */
  hangs = false;
  readonly #server: SocketServer;

  private constructor(path: string, info: object, onCall: (call: PluginCall) => void) {
    const unary =
      (method: string, answer: (request: Plain) => object) =>
      ({request}: {readonly request: Plain}, callback: Callback) => {
        onCall({method, request});
        const response = answer(request);
        if (!this.hangs) callback(null, response);
      };
    // The plugin watcher ignores hidden sockets.
    const bound = join(dirname(path), `.${basename(path)}`);
    this.#server = new SocketServer(
      path,
      [
        {
          definition: kubeletService('plugin-registration', 'pluginregistration.Registration'),
          implementation: {
            GetInfo: unary('GetInfo', () => info),
            NotifyRegistrationStatus: unary('NotifyRegistrationStatus', (request) => {
              this.statuses.push(request);
              return {};
            }),
          },
        },
      ],
      bound,
    );
  }

  /** Starts a plugin of this PluginInfo on a socket. `onCall` receives the calls of the kubelet. */
  static async start(
    path: string,
    info: object,
    onCall: (call: PluginCall) => void = () => undefined,
  ): Promise<FakeRegistrar> {
    await mkdir(dirname(path), {recursive: true});
    const registrar = new FakeRegistrar(path, info, onCall);
    await registrar.#server.listen();
    return registrar;
  }

  /** Number of open connections. */
  get openConnections(): number {
    return this.#server.openConnections;
  }

  /** Ends the plugin and removes its socket. */
  async stop(): Promise<void> {
    await this.#server.dropConnections();
    await this.#server.removeSocketFile();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
