import {
  anything,
  bool,
  list,
  map,
  object,
  objectSchema,
  secretText,
  text,
} from '../../api/schema/object-schema.js';

/** Address and certificate authority of an API server (clientcmd api.Cluster). */
export interface KubeconfigCluster {
  readonly server?: string;
  readonly 'tls-server-name'?: string;
  readonly 'insecure-skip-tls-verify'?: boolean;
  readonly 'certificate-authority'?: string;
  readonly 'certificate-authority-data'?: string;
  readonly 'proxy-url'?: string;
  readonly 'disable-compression'?: boolean;
  readonly extensions?: unknown;
}

/** Variable of a plugin. */
interface ExecVariable {
  readonly name?: string;
  readonly value?: string;
}

/** Program that provides credentials (clientcmd api.ExecConfig). */
export interface KubeconfigExec {
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: readonly ExecVariable[];
  readonly apiVersion?: string;
  readonly installHint?: string;
  readonly provideClusterInfo?: boolean;
  readonly interactiveMode?: string;
}

/** Credentials of a user (clientcmd api.AuthInfo). */
export interface KubeconfigUser {
  readonly 'client-certificate'?: string;
  readonly 'client-certificate-data'?: string;
  readonly 'client-key'?: string;
  readonly 'client-key-data'?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly as?: string;
  readonly 'as-uid'?: string;
  readonly 'as-groups'?: readonly string[];
  readonly 'as-user-extra'?: Readonly<Record<string, readonly string[]>>;
  readonly username?: string;
  readonly password?: string;
  readonly 'auth-provider'?: unknown;
  readonly exec?: KubeconfigExec;
  readonly extensions?: unknown;
}

/** A cluster and a user (clientcmd api.Context). */
export interface KubeconfigContext {
  readonly cluster?: string;
  readonly user?: string;
  readonly namespace?: string;
  readonly extensions?: unknown;
}

interface NamedCluster {
  readonly name?: string;
  readonly cluster?: KubeconfigCluster;
}

interface NamedUser {
  readonly name?: string;
  readonly user?: KubeconfigUser;
}

interface NamedContext {
  readonly name?: string;
  readonly context?: KubeconfigContext;
}

/** A kubeconfig file (clientcmd api.Config). */
export interface Kubeconfig {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly clusters?: readonly NamedCluster[];
  readonly users?: readonly NamedUser[];
  readonly contexts?: readonly NamedContext[];
  readonly 'current-context'?: string;
  readonly preferences?: unknown;
  readonly extensions?: unknown;
}

const cluster = objectSchema<KubeconfigCluster>('Cluster', {
  server: text,
  'tls-server-name': text,
  'insecure-skip-tls-verify': bool,
  'certificate-authority': text,
  'certificate-authority-data': text,
  'proxy-url': text,
  'disable-compression': bool,
  extensions: anything,
});

const exec = objectSchema<KubeconfigExec>('ExecConfig', {
  command: text,
  args: list(text),
  env: list(object(objectSchema<ExecVariable>('ExecEnvVar', {name: text, value: secretText}))),
  apiVersion: text,
  installHint: text,
  provideClusterInfo: bool,
  interactiveMode: text,
});

const user = objectSchema<KubeconfigUser>('AuthInfo', {
  'client-certificate': text,
  'client-certificate-data': text,
  'client-key': text,
  'client-key-data': secretText,
  token: secretText,
  tokenFile: text,
  as: text,
  'as-uid': text,
  'as-groups': list(text),
  'as-user-extra': map(list(text)),
  username: text,
  password: secretText,
  'auth-provider': anything,
  exec: object(exec),
  extensions: anything,
});

const context = objectSchema<KubeconfigContext>('Context', {
  cluster: text,
  user: text,
  namespace: text,
  extensions: anything,
});

/** Schema of a kubeconfig file. */
export const KUBECONFIG = objectSchema<Kubeconfig>('Config', {
  apiVersion: text,
  kind: text,
  clusters: list(object(objectSchema<NamedCluster>('NamedCluster', {name: text, cluster: object(cluster)}))),
  users: list(object(objectSchema<NamedUser>('NamedAuthInfo', {name: text, user: object(user)}))),
  contexts: list(object(objectSchema<NamedContext>('NamedContext', {name: text, context: object(context)}))),
  'current-context': text,
  preferences: anything,
  extensions: anything,
});
