import type {ConfigFileText, ReadConfigOptions} from '../../kubelet/index.js';
import type {CliContext} from '../../cli/process/context.js';
import type {ParsedValues} from '../../cli/parsing/parse-values.js';
import {KUBELET_ROOT_DIR} from '../../base/host/kubelet-root-dir.js';
import {resolveRootDir} from '../../cli/settings/settings.js';

/** Kind of a kubelet, on which its defaults depend. */
export interface KubeletKind {
  /** True under the name kubelet. */
  readonly asKubelet: boolean;
  readonly joinsCluster: boolean;
}

/** Returns the root directory: that of a kubelet in a cluster or under its name, kcri's own otherwise. */
export function kubeletRootDir(
  globals: ParsedValues,
  env: CliContext['env'],
  {asKubelet, joinsCluster}: KubeletKind,
): string {
  return asKubelet || joinsCluster
    ? resolveRootDir(globals, env, KUBELET_ROOT_DIR)
    : resolveRootDir(globals, env);
}

/** Returns the kind of the kubelet that takes over a root directory: that of a kubelet is for one under the name kubelet. */
export function takeoverKind(rootDir: string, joinsCluster: boolean): KubeletKind {
  return {asKubelet: rootDir === KUBELET_ROOT_DIR, joinsCluster};
}

/** Returns the directory of the certificates. A kubelet's does not depend on its root directory (options.go NewKubeletFlags). */
export function kubeletCertDir(rootDir: string, {asKubelet}: KubeletKind): string {
  return `${asKubelet ? KUBELET_ROOT_DIR : rootDir}/pki`;
}

/** Defaults of a kubelet that differ from kcri's (v1beta1 defaults.go). */
const OF_KUBELET: NonNullable<ReadConfigOptions['defaults']> = {
  address: '0.0.0.0',
  containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
  failSwapOn: true,
};

/** Returns how to read the configuration: in place of a kubelet, unknown fields must not keep kcri from starting. */
export const readConfigOptions = ({asKubelet, joinsCluster}: KubeletKind): ReadConfigOptions => ({
  joinsCluster,
  defaults: asKubelet ? OF_KUBELET : {},
  isLenient: asKubelet || joinsCluster,
});

/** Configuration of a kubelet without --config, which keeps its oldest command lines working (options.go applyLegacyDefaults). */
const WITHOUT_FILE: ConfigFileText = {
  path: 'defaults of a kubelet without --config',
  content: `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
readOnlyPort: 10255
`,
};

/** Returns the configuration that --config replaces: under the name kubelet, its own. Drop-ins override it. */
export const configWithoutFile = (
  {asKubelet}: KubeletKind,
  configFile: string | undefined,
): readonly ConfigFileText[] => (asKubelet && (configFile ?? '') === '' ? [WITHOUT_FILE] : []);

/** Defaults under the name kubelet of flags for which the help of kcri has another one. */
const FLAG_DEFAULTS: Readonly<Record<string, string>> = {
  address: '0.0.0.0',
  'anonymous-auth': 'false; true without --config',
  'authentication-token-webhook': 'true; false without --config',
  'authorization-mode': 'Webhook; AlwaysAllow without --config or --kubeconfig',
  'cert-dir': `${KUBELET_ROOT_DIR}/pki`,
  'container-runtime-endpoint': 'unix:///run/containerd/containerd.sock',
  'fail-swap-on': 'true',
  'read-only-port': '0, disabled; 10255 without --config',
  'root-dir': KUBELET_ROOT_DIR,
};

/** Returns the default of a flag under the name kubelet, if it is another than the one in the help of kcri. */
export const kubeletFlagDefault = (name: string): string | undefined => FLAG_DEFAULTS[name];
