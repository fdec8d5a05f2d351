import {createSecureContext, type SecureContext} from 'node:tls';
import type {ClientTls} from '../kubeconfig/credentials.js';
import {readSystemRoots} from './system-roots.js';

/** Resolves with the certificate authorities of this machine, in PEM. */
export type SystemRoots = () => Promise<readonly string[]>;

let systemRoots: Promise<readonly string[]> | undefined;

/** Reads the certificate authorities of this machine, once for this process. */
const readOnce: SystemRoots = async () => {
  systemRoots ??= readSystemRoots(process.env);
  return await systemRoots;
};

type ContextCache = WeakMap<ClientTls, Promise<SecureContext>>;

/**
 * Creates the TLS contexts of connections. Without a certificate authority, they trust those of the machine. A context with
 * these takes 60 ms of CPU and 1 MB, so there is one for all connections with the same settings.
 */
export class TlsContexts {
  readonly #systemRoots: SystemRoots;
  readonly #ofServers: ContextCache = new WeakMap();
  readonly #ofProxies: ContextCache = new WeakMap();

  constructor(roots: SystemRoots = readOnce) {
    this.#systemRoots = roots;
  }

  /** Resolves with the context for the API server. Rejects if a certificate or key is invalid. */
  async forServer(tls: ClientTls): Promise<SecureContext> {
    const {ca, cert, key} = tls;
    return await cached(this.#ofServers, tls, async () =>
      createSecureContext({ca: ca ?? (await this.#rootsFor(tls)), cert, key}),
    );
  }

  /** Resolves with the context for an https proxy, which the machine may trust as well as the cluster. */
  async forProxy(tls: ClientTls): Promise<SecureContext> {
    return await cached(this.#ofProxies, tls, async () => {
      const roots = await this.#rootsFor(tls);
      return createSecureContext({ca: roots && [...roots, ...(tls.ca === undefined ? [] : [tls.ca])]});
    });
  }

  /** Resolves with undefined if no certificate is verified. */
  async #rootsFor({rejectUnauthorized}: ClientTls): Promise<string[] | undefined> {
    return rejectUnauthorized ? [...(await this.#systemRoots())] : undefined;
  }
}

async function cached(
  contexts: ContextCache,
  tls: ClientTls,
  create: () => Promise<SecureContext>,
): Promise<SecureContext> {
  const context = contexts.get(tls) ?? create();
  contexts.set(tls, context);
  return await context;
}
