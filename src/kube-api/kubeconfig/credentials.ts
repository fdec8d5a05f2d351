import {X509Certificate, createPrivateKey} from 'node:crypto';
import {pathExists} from '../../base/fs/files.js';
import {readTextFile} from '../../base/fs/read-text-file.js';
import type {Clock} from '../../base/clock.js';
import {ConfigError, messageOf} from '../../base/errors.js';
import {systemErrorMessage} from '../../base/system-error-message.js';
import {ExecPlugin, type PluginCredentials} from './exec-plugin.js';
import type {ClusterAccess, Material} from './parse-kubeconfig.js';

/** TLS settings of connections to the API server, as node:tls takes them. */
export interface ClientTls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
  readonly rejectUnauthorized: boolean;
}

/** Credentials for requests. `tls` is the same object as long as it is unchanged. */
export interface Credentials {
  readonly tls: ClientTls;
  readonly token: string | undefined;
}

/** Provides the credentials of the moment. */
export interface CredentialSource {
  current(): Promise<Credentials>;
  /** Called when the API server has answered a request with these credentials with 401. */
  rejected?(credentials: Credentials): void;
}

/** Credentials of a kubeconfig, which can change. */
export interface FileCredentials extends CredentialSource {
  /** Client certificate and key that are written in the kubeconfig itself. */
  readonly embedded: Required<Pick<ClientTls, 'cert' | 'key'>> | undefined;
  /** Reports whether requests are made without the client certificate, since it is not issued yet or has expired. */
  lacksCertificate(): Promise<boolean>;
  /** Makes the next use read the files again. */
  reload(): void;
}

/** Time after which files are read again, in ms (client-go's cachingTokenSource). */
const RELOAD_MS = 60_000;
const MAX_FILE_BYTES = 1024 * 1024;

/** Options of {@link openCredentials}. */
export interface OpenCredentialsOptions {
  /** The kubeconfig, for messages. */
  readonly file: string;
  /**
   * File of a client certificate and its key that precedes those of the kubeconfig unless it has expired. If it is set,
   * an expired certificate is left out, since another one will be issued.
   */
  readonly rotatedFile?: string | undefined;
  /** True if the rotated file may not exist yet. */
  readonly isBootstrapping?: boolean | undefined;
  readonly clock: Clock;
}

/**
 * Opens the credentials of a kubeconfig. Files are read again once a minute and after they were rejected, so that renewed
 * certificates and tokens are used; the previous ones stay in use while a file cannot be used. Rejects with ConfigError if a
 * file cannot be read, a certificate is invalid, expired or does not match its key, or a plugin does not exist.
 */
export async function openCredentials(
  access: ClusterAccess,
  {file, clock, ...rotation}: OpenCredentialsOptions,
): Promise<FileCredentials> {
  const read = async (lastToken: string | undefined): Promise<Credentials> => {
    const context = {file, now: clock.now(), lastToken};
    return await readCredentials(await withCurrentCertificate(access, rotation, context), context);
  };
  let current = await read(access.firstToken);
  let readAt = clock.monotonic();
  const reload = (): void => {
    readAt = Number.NEGATIVE_INFINITY;
  };
  const files: FileCredentials = {
    embedded: embeddedPair(access),
    lacksCertificate: async () =>
      access.clientCertificate !== undefined && (await files.current()).tls.cert === undefined,
    reload,
    rejected: reload,
    current: async () => {
      const now = clock.monotonic();
      if (now - readAt < RELOAD_MS) return current;
      readAt = now;
      try {
        const next = await read(current.token);
        current = isSameTls(next.tls, current.tls) ? {...next, tls: current.tls} : next;
      } catch (error) {
        // A renewal in progress: the API server will tell whether the old credentials still do.
        if (!(error instanceof ConfigError)) throw error;
      }
      return current;
    },
  };
  const {exec} = access;
  if (exec === undefined) return files;
  const plugin = new ExecPlugin({
    config: exec,
    file,
    cluster: () => describeCluster(access, current.tls),
    env: process.env,
    clock,
  });
  await plugin.check();
  return withPlugin(files, plugin);
}

/** Returns credentials that a plugin adds to those of files. */
function withPlugin(files: FileCredentials, plugin: ExecPlugin): FileCredentials {
  let last:
    | {readonly of: PluginCredentials; readonly files: Credentials; readonly all: Credentials}
    | undefined;
  return {
    ...files,
    current: async () => {
      const [base, own] = [await files.current(), await plugin.current()];
      if (last?.of === own && last.files === base) return last.all;
      const tls = {
        ...base.tls,
        ...(own.cert !== undefined && own.key !== undefined && {cert: own.cert, key: own.key}),
      };
      const known = last?.all.tls;
      const all = {token: own.token, tls: known !== undefined && isSameTls(known, tls) ? known : tls};
      last = {of: own, files: base, all};
      return all;
    },
    rejected: (credentials) => {
      if (last?.all === credentials) plugin.reject(last.of);
    },
  };
}

/** Returns the description of a cluster for a plugin (clientauthentication Cluster). */
function describeCluster(
  {server, tlsServerName, verifiesServer, proxy, execExtension}: ClusterAccess,
  {ca}: ClientTls,
): object {
  return {
    server: server.href.replace(/\/$/, ''),
    ...(tlsServerName !== undefined && {'tls-server-name': tlsServerName}),
    ...(!verifiesServer && {'insecure-skip-tls-verify': true}),
    ...(ca !== undefined && {'certificate-authority-data': Buffer.from(ca).toString('base64')}),
    ...(proxy !== undefined && {'proxy-url': proxy.href}),
    config: execExtension ?? null,
  };
}

function embeddedPair({clientCertificate, clientKey}: ClusterAccess): FileCredentials['embedded'] {
  if (clientCertificate?.kind !== 'inline' || clientKey?.kind !== 'inline') return undefined;
  return {cert: clientCertificate.text, key: clientKey.text};
}

/** Returns the access with the client certificate to use at the moment; see OpenCredentialsOptions. */
async function withCurrentCertificate(
  access: ClusterAccess,
  {
    rotatedFile: path,
    isBootstrapping = false,
  }: Pick<OpenCredentialsOptions, 'rotatedFile' | 'isBootstrapping'>,
  context: ReadContext,
): Promise<ClusterAccess> {
  if (path === undefined) return access;
  const material = {kind: 'file', field: 'rotated client certificate', path} as const;
  const rotated = {...access, clientCertificate: material, clientKey: material};
  const none = {...access, clientCertificate: undefined, clientKey: undefined};
  const exists = await pathExists(path);
  if (exists && !(await isExpired(rotated, context))) return rotated;
  if (!exists && isBootstrapping) return none;
  return (await isExpired(access, context)) ? none : access;
}

async function isExpired({clientCertificate}: ClusterAccess, context: ReadContext): Promise<boolean> {
  const pem = await readMaterial(clientCertificate, context);
  if (pem === undefined) return false;
  return Date.parse(parseCertificate(pem, clientCertificate, context).validTo) <= context.now;
}

function isSameTls(a: ClientTls, b: ClientTls): boolean {
  return a.ca === b.ca && a.cert === b.cert && a.key === b.key;
}

interface ReadContext {
  /** The kubeconfig, for messages. */
  readonly file: string;
  readonly now: number;
  /** Token that remains in use if its file cannot be read. */
  readonly lastToken: string | undefined;
}

async function readCredentials(access: ClusterAccess, context: ReadContext): Promise<Credentials> {
  const {certificateAuthority, clientCertificate, clientKey, tlsServerName, verifiesServer} = access;
  const [ca, cert, key, token] = await Promise.all([
    readMaterial(certificateAuthority, context),
    readMaterial(clientCertificate, context),
    readMaterial(clientKey, context),
    readToken(access.token, context),
  ]);
  if (ca !== undefined) parseCertificate(ca, certificateAuthority, context);
  if (cert !== undefined && key !== undefined) checkKeyPair(cert, key, access, context);
  return {
    tls: {
      ...(ca !== undefined && {ca}),
      ...(cert !== undefined && {cert}),
      ...(key !== undefined && {key}),
      ...(tlsServerName !== undefined && {servername: tlsServerName}),
      rejectUnauthorized: verifiesServer,
    },
    token,
  };
}

async function readToken(source: Material | undefined, context: ReadContext): Promise<string | undefined> {
  try {
    const token = (await readMaterial(source, context))?.trim();
    if (token !== '') return token;
    throw new ConfigError(
      `invalid kubeconfig "${context.file}": ${source?.field ?? ''}: the token is empty`,
      {
        hint: 'write the token to the file',
      },
    );
  } catch (error) {
    // A renewal in progress.
    if (context.lastToken === undefined) throw error;
    return context.lastToken;
  }
}

async function readMaterial(source: Material | undefined, {file}: ReadContext): Promise<string | undefined> {
  if (source === undefined || source.kind === 'inline') return source?.text;
  const {field, path} = source;
  try {
    return await readTextFile(path, MAX_FILE_BYTES, new AbortController().signal);
  } catch (error) {
    throw new ConfigError(
      `invalid kubeconfig "${file}": ${field}: cannot read "${path}": ${systemErrorMessage(error)}`,
      {cause: error, hint: 'correct the path, or create the file'},
    );
  }
}

function parseCertificate(pem: string, source: Material | undefined, {file}: ReadContext): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (error) {
    throw new ConfigError(
      `invalid kubeconfig "${file}": ${source?.field ?? ''}: not a PEM certificate: ${messageOf(error)}`,
      {cause: error, hint: 'it must begin with "-----BEGIN CERTIFICATE-----"'},
    );
  }
}

function checkKeyPair(cert: string, key: string, access: ClusterAccess, context: ReadContext): void {
  const {clientCertificate, clientKey} = access;
  const certificate = parseCertificate(cert, clientCertificate, context);
  const fail = (source: Material | undefined, problem: string, hint: string, cause?: unknown): never => {
    throw new ConfigError(`invalid kubeconfig "${context.file}": ${source?.field ?? ''}: ${problem}`, {
      cause,
      hint,
    });
  };
  if (Date.parse(certificate.validTo) <= context.now)
    fail(
      clientCertificate,
      `the certificate expired on ${certificate.validTo}`,
      'renew the client certificate',
    );
  try {
    if (certificate.checkPrivateKey(createPrivateKey(key))) return;
  } catch (error) {
    fail(clientKey, `not a private key in PEM: ${messageOf(error)}`, 'set the key of the certificate', error);
  }
  fail(clientKey, 'the key does not match the client certificate', 'set the key of the certificate');
}
