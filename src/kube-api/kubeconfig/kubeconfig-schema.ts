import {
  anything,
  bool,
  list,
  map,
  object,
  schemaOf,
  secretText,
  text,
  type Described,
} from '../../api/schema/object-schema.js';

/** Address and certificate authority of an API server (clientcmd api.Cluster). */
export interface KubeconfigCluster extends Described<typeof cluster> {}
const cluster = schemaOf<KubeconfigCluster>('Cluster')({
  server: text,
  'tls-server-name': text,
  'insecure-skip-tls-verify': bool,
  'certificate-authority': text,
  'certificate-authority-data': text,
  'proxy-url': text,
  'disable-compression': bool,
  extensions: anything,
});

/** Variable of a plugin. */
interface ExecVariable extends Described<typeof execVariable> {}
const execVariable = schemaOf<ExecVariable>('ExecEnvVar')({
  name: text,
  value: secretText,
});

/** Program that provides credentials (clientcmd api.ExecConfig). */
export interface KubeconfigExec extends Described<typeof exec> {}
const exec = schemaOf<KubeconfigExec>('ExecConfig')({
  command: text,
  args: list(text),
  env: list(object(execVariable)),
  apiVersion: text,
  installHint: text,
  provideClusterInfo: bool,
  interactiveMode: text,
});

/** Credentials of a user (clientcmd api.AuthInfo). */
export interface KubeconfigUser extends Described<typeof user> {}
const user = schemaOf<KubeconfigUser>('AuthInfo')({
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

/** A cluster and a user (clientcmd api.Context). */
export interface KubeconfigContext extends Described<typeof context> {}
const context = schemaOf<KubeconfigContext>('Context')({
  cluster: text,
  user: text,
  namespace: text,
  extensions: anything,
});

interface NamedCluster extends Described<typeof namedCluster> {}
const namedCluster = schemaOf<NamedCluster>('NamedCluster')({
  name: text,
  cluster: object(cluster),
});

interface NamedUser extends Described<typeof namedUser> {}
const namedUser = schemaOf<NamedUser>('NamedAuthInfo')({
  name: text,
  user: object(user),
});

interface NamedContext extends Described<typeof namedContext> {}
const namedContext = schemaOf<NamedContext>('NamedContext')({
  name: text,
  context: object(context),
});

/** A kubeconfig file (clientcmd api.Config). */
export interface Kubeconfig extends Described<typeof KUBECONFIG> {}
export const KUBECONFIG = schemaOf<Kubeconfig>('Config')({
  apiVersion: text,
  kind: text,
  clusters: list(object(namedCluster)),
  users: list(object(namedUser)),
  contexts: list(object(namedContext)),
  'current-context': text,
  preferences: anything,
  extensions: anything,
});
