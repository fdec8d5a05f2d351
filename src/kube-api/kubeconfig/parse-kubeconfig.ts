import {dirname, resolve} from 'node:path';
import {Decoder} from '../../api/decoding/decoder.js';
import {parseYaml} from '../../api/decoding/parse-yaml.js';
import {FieldPath} from '../../api/field-path.js';
import {ConfigError} from '../../base/errors.js';
import {isObject} from '../../base/is-object.js';
import {shorten} from '../../base/shorten.js';
import {readExec, type ExecConfig} from './exec-config.js';
import {
  KUBECONFIG,
  type Kubeconfig,
  type KubeconfigCluster,
  type KubeconfigContext,
  type KubeconfigUser,
} from './kubeconfig-schema.js';

/** A value in the kubeconfig, or the file that contains it. `field` names its field for messages. */
export type Material =
  | {readonly kind: 'inline'; readonly field: string; readonly text: string}
  | {readonly kind: 'file'; readonly field: string; readonly path: string};

/** API server of the current context, and the credentials for it. */
export interface ClusterAccess {
  readonly server: URL;
  readonly tlsServerName: string | undefined;
  readonly verifiesServer: boolean;
  readonly certificateAuthority: Material | undefined;
  readonly clientCertificate: Material | undefined;
  readonly clientKey: Material | undefined;
  readonly token: Material | undefined;
  /** Token that is used until the file with the token can be read. */
  readonly firstToken: string | undefined;
  /** Program that provides the credentials in place of those above. */
  readonly exec: ExecConfig | undefined;
  /** Proxy through which the server is reached. */
  readonly proxy: URL | undefined;
  /** Contents of the cluster's extension for plugins. */
  readonly execExtension: unknown;
}

/** Maximum length of a message. */
const LONGEST_MESSAGE = 300;

const OTHER_CREDENTIALS = 'use client-certificate and client-key, token, tokenFile or exec';
const NO_IMPERSONATION = 'use the credentials of the node itself';
/** Fields that change how requests are made and that kcri does not support, with what to use in their place. */
const UNSUPPORTED_USER = {
  'auth-provider': OTHER_CREDENTIALS,
  username: OTHER_CREDENTIALS,
  password: OTHER_CREDENTIALS,
  as: NO_IMPERSONATION,
  'as-uid': NO_IMPERSONATION,
  'as-groups': NO_IMPERSONATION,
  'as-user-extra': NO_IMPERSONATION,
} as const satisfies Partial<Record<keyof KubeconfigUser, string>>;

/**
 * Returns how to reach the API server of the kubeconfig's current context. Paths are relative to the file. Throws
 * ConfigError with the file, the field and a remedy for what is missing, contradictory or not supported.
 */
export function parseKubeconfig(content: string, file: string): ClusterAccess {
  const fail = (message: string, hint: string): never => {
    // A message can quote a value, such as the whole content of another kind of file.
    throw new ConfigError(`invalid kubeconfig "${file}": ${shorten(message, LONGEST_MESSAGE)}`, {hint});
  };
  const config = decode(content, fail);
  const context = findContext(config, fail);
  const {cluster: clusterName = '', user: userName = ''} = context.value;
  const cluster = findNamed(config.clusters, clusterName);
  if (cluster === undefined)
    return fail(
      `${context.at}.cluster: Invalid value: "${clusterName}": there is no such cluster`,
      'add it to clusters',
    );
  const options = {at: `clusters[${clusterName}]`, file, fail};
  const access = {...ANONYMOUS, ...readCluster(cluster.cluster ?? {}, options)};
  // As in client-go, credentials are never sent in clear text.
  if (access.server.protocol === 'http:') return access;
  const user = findNamed(config.users, userName);
  // A misspelled name must not make the node anonymous.
  if (user === undefined && userName !== '')
    return fail(`${context.at}.user: Invalid value: "${userName}": there is no such user`, 'add it to users');
  return {...access, ...readUser(user?.user ?? {}, {...options, at: `users[${userName}]`})};
}

/** Returns the entry with this name. */
function findNamed<T extends {readonly name?: string}>(
  entries: readonly T[] = [],
  wanted = '',
): T | undefined {
  return entries.find(({name = ''}) => name === wanted);
}

function findContext(
  {contexts = [], 'current-context': current = ''}: Kubeconfig,
  fail: Fail,
): {readonly value: KubeconfigContext; readonly at: string} {
  const found = findNamed(contexts, current);
  if (found !== undefined) return {value: found.context ?? {}, at: `contexts[${current}]`};
  if (current === '')
    return fail('current-context: Required value', 'set it with "kubectl config use-context NAME"');
  return fail(
    `current-context: Invalid value: "${current}": there is no such context`,
    `use one of: ${contexts.map(({name = ''}) => name).join(', ')}`,
  );
}

type Fail = (message: string, hint: string) => never;

function decode(content: string, fail: Fail): Kubeconfig {
  // As in clientcmd, only the first document counts.
  const [document] = parseYaml(content.replace(/^\uFEFF/, ''));
  const [syntax] = document?.problems ?? [];
  if (syntax !== undefined) return fail(syntax.message, 'correct its YAML');
  if (document?.root === undefined)
    return fail('it is empty', 'write a Config with clusters, users and contexts');
  if (document.root.kind !== 'map')
    return fail('it must be a mapping of fields', 'set --kubeconfig to a kubeconfig');
  const decoder = new Decoder();
  const config = decoder.decode(KUBECONFIG, document.root, new FieldPath());
  const problem = decoder.problems.find(({kind}) => kind !== 'unknown-field');
  if (problem !== undefined) return fail(problem.message, 'correct this field');
  const {kind = 'Config'} = config;
  if (kind !== 'Config')
    return fail(`kind: Invalid value: "${kind}": must be Config`, 'set --kubeconfig to a kubeconfig');
  checkNames(config, fail);
  return config;
}

function checkNames(config: Kubeconfig, fail: Fail): void {
  for (const list of ['clusters', 'users', 'contexts'] as const) {
    const names = (config[list] ?? []).map(({name = ''}) => name);
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined) fail(`${list}: Duplicate value: "${twice}"`, 'remove one of them');
  }
}

function refuse(
  value: object,
  fields: Readonly<Record<string, string>>,
  report: (field: string, hint: string) => void,
): void {
  for (const [name, hint] of Object.entries(fields)) {
    const field = (value as Readonly<Record<string, unknown>>)[name];
    if (field !== undefined && !isEmpty(field)) report(name, hint);
  }
}

/** Reports whether clientcmd treats a value as if it were absent. */
function isEmpty(value: unknown): boolean {
  return value === '' || (Array.isArray(value) && value.length === 0);
}

interface ReadOptions {
  /** Path of the cluster or the user in the kubeconfig, for messages. */
  readonly at: string;
  readonly file: string;
  readonly fail: Fail;
}

type UserAccess = Pick<ClusterAccess, 'clientCertificate' | 'clientKey' | 'token' | 'firstToken' | 'exec'>;

const ANONYMOUS: UserAccess = {
  clientCertificate: undefined,
  clientKey: undefined,
  token: undefined,
  firstToken: undefined,
  exec: undefined,
};

function readCluster(
  cluster: KubeconfigCluster,
  {at, file, fail}: ReadOptions,
): Omit<ClusterAccess, keyof UserAccess> {
  const {server: text = '', 'insecure-skip-tls-verify': insecure = false} = cluster;
  const server = readServer(text, at, fail);
  const certificateAuthority = chooseMaterial(cluster, 'certificate-authority', {at, file, fail});
  const isSecure = server.protocol === 'https:';
  if (isSecure && insecure && certificateAuthority !== undefined)
    return fail(
      `${at}.insecure-skip-tls-verify: Forbidden: may not be set together with a certificate authority`,
      'remove one of them',
    );
  return {
    server,
    tlsServerName: nonEmpty(cluster['tls-server-name']),
    verifiesServer: !insecure,
    certificateAuthority: isSecure ? certificateAuthority : undefined,
    proxy: readProxy(cluster, at, fail),
    execExtension: findExtension(cluster.extensions),
  };
}

/** Returns the URL of the server. As in client-go, host and port without a scheme are those of a server without TLS. */
function readServer(text: string, at: string, fail: Fail): URL {
  if (text === '') return fail(`${at}.server: Required value`, 'set the URL of the API server');
  const hasScheme = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]/i.test(text);
  const absolute = hasScheme ? text : `http://${text}`;
  const url = URL.canParse(absolute) ? new URL(absolute) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || (!hasScheme && url.pathname !== '/'))
    return fail(
      `${at}.server: Invalid value: ${JSON.stringify(text)}: must be an http or https URL`,
      'set it to a URL such as https://10.0.0.1:6443',
    );
  return url;
}

const PROXY_PROTOCOLS: readonly string[] = ['http:', 'https:', 'socks5:'];

function readProxy({'proxy-url': text = ''}: KubeconfigCluster, at: string, fail: Fail): URL | undefined {
  if (text === '') return undefined;
  // The URL may contain a password.
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!isSupportedProxy(url))
    return fail(
      `${at}.proxy-url: Invalid value: must be a URL with the scheme http, https or socks5`,
      'set it to a URL such as http://10.0.0.1:3128',
    );
  return url;
}

/** Reports whether the API server can be reached through the proxy. */
export function isSupportedProxy(url: URL | undefined): url is URL {
  return url !== undefined && PROXY_PROTOCOLS.includes(url.protocol) && url.hostname !== '';
}

/** Name of the extension of a cluster with settings for plugins. */
const EXEC_EXTENSION = 'client.authentication.k8s.io/exec';

function findExtension(extensions: unknown): unknown {
  if (!Array.isArray(extensions)) return undefined;
  const found = extensions.find((each) => isObject(each) && each['name'] === EXEC_EXTENSION) as
    | {readonly extension?: unknown}
    | undefined;
  return found?.extension;
}

function readUser(user: KubeconfigUser, options: ReadOptions): UserAccess {
  const {at, fail} = options;
  refuse(user, UNSUPPORTED_USER, (field, hint) => fail(`${at}.${field} is not supported`, hint));
  const clientCertificate = chooseMaterial(user, 'client-certificate', options);
  // As in clientcmd, a key without a certificate is not used.
  const clientKey = clientCertificate && chooseMaterial(user, 'client-key', options);
  if (clientCertificate !== undefined && clientKey === undefined)
    return fail(`${at}: client-key is required with client-certificate`, 'add the client-key');
  const tokens = readTokens(user, options);
  const exec = user.exec && readExec(user.exec, options);
  // As in client-go, a plugin is used only without other credentials.
  const isNeeded = (clientCertificate ?? tokens.token) === undefined;
  return {clientCertificate, clientKey, ...tokens, exec: isNeeded ? exec : undefined};
}

/** Returns the token. As in client-go, the file takes precedence: it is the one that is renewed. */
function readTokens(
  user: KubeconfigUser,
  {at, file}: ReadOptions,
): Pick<ClusterAccess, 'token' | 'firstToken'> {
  const [path, text] = [nonEmpty(user.tokenFile), nonEmpty(user.token)];
  const inline = text === undefined ? undefined : ({kind: 'inline', field: `${at}.token`, text} as const);
  if (path === undefined) return {token: inline, firstToken: undefined};
  const token = {kind: 'file', field: `${at}.tokenFile`, path: resolve(dirname(file), path)} as const;
  return {token, firstToken: text};
}

/** Returns the value of a field or of its variant with `-data` in base64; both together are contradictory. */
function chooseMaterial(value: object, name: string, {at, file, fail}: ReadOptions): Material | undefined {
  const fields = value as Readonly<Record<string, string | undefined>>;
  const [path, data] = [nonEmpty(fields[name]), nonEmpty(fields[`${name}-data`])];
  if (path !== undefined && data !== undefined)
    return fail(`${at}: ${name} and ${name}-data may not be set together`, 'remove one of them');
  if (path !== undefined) return {kind: 'file', field: `${at}.${name}`, path: resolve(dirname(file), path)};
  if (data === undefined) return undefined;
  const field = `${at}.${name}-data`;
  if (!/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(data))
    return fail(`${field}: Invalid value: must be base64`, 'encode the PEM text with "base64 -w0"');
  return {kind: 'inline', field, text: Buffer.from(data, 'base64').toString()};
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}
