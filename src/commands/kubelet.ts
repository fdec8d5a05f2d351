import * as Flags from '@oclif/core/flags';
import {
  CLOUD_FLAGS,
  CONFIG_FLAGS,
  kubeconfigFlags,
  type KubeconfigFlags,
} from '../features/kubelet/kubelet-flags.js';
import {checkKubeletFlags} from '../features/kubelet/as-kubelet.js';
import {IGNORED_FLAGS, listIgnoredFlags} from '../features/kubelet/ignored-flags.js';
import {CONTAINER_GC_FLAGS} from '../features/kubelet/container-gc-flags.js';
import {createConfigReader} from '../features/kubelet/read-kubelet-config-files.js';
import {ConfigError, KcriError} from '../base/errors.js';
import {withBareValue, withChoices} from '../cli/flags/flag-types.js';
import {formatKubeletUnit, UNIT_FORM_NAMES} from '../features/kubelet/systemd/systemd-unit.js';
import {BaseCommand} from '../cli/command/base-command.js';
import {checkKubeletLabels} from '../features/manifests/node-labels.js';
import {NODE_FLAGS} from '../features/manifests/pod-flags.js';
import type {KubeletConfig} from '../kubelet/index.js';

export default class Kubelet extends BaseCommand {
  static override summary = 'Run a kubelet: keep the Pods of a directory, URL or cluster running';
  static override description =
    'Runs until it receives SIGTERM or SIGINT. Pods keep running when it exits; the next kubelet that uses the root ' +
    'directory adopts them. SIGHUP reloads the manifests and the configuration, and logs the settings that require a ' +
    'restart.\n\n' +
    'Without a cluster, it also maintains the Deployments, Jobs and other workloads of the manifests: a changed ' +
    'Deployment rolls over when its new pods are ready, and a finished Job stays finished.\n\n' +
    'Flags and KubeletConfiguration fields have the same meaning as in a kubelet, and flags take precedence. ' +
    'docs/kubelet-config.md lists the supported fields. Unlike a kubelet, "kcri kubelet" rejects clients without ' +
    'credentials, runs on nodes with swap, and listens on loopback addresses by default unless it joins a cluster, with ' +
    'which its root directory is /var/lib/kubelet by default. Under the name kubelet, the flags, defaults and messages ' +
    'are those of a kubelet. Logs are written to standard error.';
  static override usage = 'kubelet [FLAGS]';
  static override examples = [
    '<%= config.bin %> kubelet --pod-manifest-path=/etc/kubernetes/manifests',
    '<%= config.bin %> kubelet --kubeconfig=/etc/kubernetes/kubelet.conf',
    '<%= config.bin %> kubelet --config=/etc/kcri/kubelet.yaml --print-unit > kcri-kubelet.service',
  ];
  static override flags = {
    config: Flags.string({
      helpGroup: 'KUBELET',
      helpValue: 'FILE',
      description: 'KubeletConfiguration file (kubelet.config.k8s.io/v1beta1).',
    }),
    'config-dir': Flags.string({
      helpGroup: 'KUBELET',
      helpValue: 'DIR',
      description: 'Drop-in directory; the *.conf files below it override --config in lexical order.',
    }),
    kubeconfig: Flags.string({
      helpGroup: 'KUBELET',
      helpValue: 'FILE',
      description: 'Kubeconfig file of the cluster to join. [default: none; runs without an API server]',
    }),
    'bootstrap-kubeconfig': Flags.string({
      helpGroup: 'KUBELET',
      helpValue: 'FILE',
      description:
        'Kubeconfig file with credentials to request a client certificate for the node. [default: none]',
    }),
    'cert-dir': Flags.string({
      helpGroup: 'KUBELET',
      helpValue: 'DIR',
      description: 'Directory of the certificates that are generated or requested. [default: ROOT-DIR/pki]',
    }),
    'authorization-policy-file': Flags.string({
      helpGroup: 'KUBELET',
      helpValue: 'FILE',
      description:
        'ClusterRoles and ClusterRoleBindings for authorization. [default: any authenticated client may do ' +
        'anything; SubjectAccessReviews with --kubeconfig]',
    }),
    ...CONFIG_FLAGS,
    ...CLOUD_FLAGS,
    ...CONTAINER_GC_FLAGS,
    ...IGNORED_FLAGS,
    ...NODE_FLAGS,
    'no-admission': Flags.boolean({description: 'Skip admission: run pods even if the node lacks capacity.'}),
    'stop-pods-on-exit': Flags.boolean({description: 'Stop all pods on exit.'}),
    'check-config': Flags.boolean({
      description:
        'Check the configuration and the manifests, print the fields that have no effect, and exit.',
    }),
    version: withBareValue(
      Flags.string({
        helpGroup: 'KUBELET',
        helpValue: 'true|raw|VERSION',
        multiple: true,
        description:
          'Print the version of Kubernetes that kcri corresponds to, and exit; with raw, all fields of it. After a VERSION ' +
          'such as v1.36.2-x, --version prints that one; the node keeps its own.',
      }),
      'true',
    ),
    'print-unit': withBareValue(
      withChoices(
        Flags.string({
          helpValue: 'FORM',
          description:
            'Print a systemd unit that runs the kubelet with these flags, and exit. With kubeadm, it is a kubelet.service ' +
            'that reads the files of kubeadm; with kubeadm-drop-in, a drop-in of the installed one.',
        }),
        UNIT_FORM_NAMES,
      ),
      'kcri',
    ),
  };

  async run(): Promise<void> {
    // As in the kubelet, words of a flag name may be joined by underscores.
    const argv = this.argv.map((word) => word.replace(/^--[\w-]+/, (name) => name.replaceAll('_', '-')));
    const {flags, raw} = await this.parse(Kubelet, argv);
    const asKubelet = this.context.calledAs === 'kubelet';
    if (asKubelet) {
      const given = raw.flatMap((token) => (token.type === 'flag' ? token.flag : []));
      for (const warning of checkKubeletFlags(given)) this.out.writeMessage(`${warning}\n`);
    }
    if (flags.version !== undefined && (await this.#printVersion(flags.version))) return;
    checkKubeletLabels(flags['node-labels']);
    const defaults = await import('../features/kubelet/kubelet-defaults.js');
    const ignoredFlags = listIgnoredFlags(flags);
    const kubeconfigs = kubeconfigFlags(flags);
    const kind = {asKubelet, joinsCluster: kubeconfigs.kubeconfig !== undefined};
    const {globals} = this.settings;
    this.settings.addGlobals({'root-dir': defaults.kubeletRootDir(globals, this.context.env, kind)});
    const readConfig = createConfigReader(kind, flags, this.signal);
    const config = await readConfig();
    const {readKubeletNodeFlags} = await import('../features/kubelet/kubelet-node-flags.js');
    const node = readKubeletNodeFlags(flags);
    if (flags['print-unit'] !== undefined) {
      await this.#printUnit(flags['print-unit']);
      return;
    }
    if (flags['check-config']) {
      await this.#checkConfig(config, {...kubeconfigs, nodeName: node.nodeName});
      return;
    }
    const {runKubelet} = await import('../features/kubelet/run-kubelet.js');
    const {createRunKubeletOptions} = await import('../features/kubelet/run-kubelet-options.js');
    const options = createRunKubeletOptions(this.services, flags, {
      config,
      readConfig,
      ignoredFlags,
      certDir: flags['cert-dir'] ?? defaults.kubeletCertDir(this.settings.rootDir, kind),
      ...node,
      ...kubeconfigs,
    });
    await runKubelet(options).catch((error: unknown) => {
      // Its log has the error. A kubelet prints nothing else.
      if (!asKubelet || !(error instanceof KcriError)) throw error;
      this.report.setExitCode(error.exitCode);
    });
  }

  /** Prints a unit that runs the kubelet with the flags of this command line. */
  async #printUnit(form: string): Promise<void> {
    const {env, program} = this.context;
    this.out.printText(formatKubeletUnit(form, {program, argv: this.argv, directory: process.cwd(), env}));
  }

  /** Checks the kubeconfig, the managers of the node's resources and the manifests, and prints the fields without effect. */
  async #checkConfig(
    config: KubeletConfig,
    {kubeconfig, bootstrapKubeconfig, nodeName}: KubeconfigFlags & {readonly nodeName: string},
  ): Promise<void> {
    const {openApiServer} = await import('../features/kubelet/open-cluster.js');
    // The kubeconfig may not exist yet.
    const file = bootstrapKubeconfig ?? kubeconfig;
    using _ =
      file === undefined
        ? undefined
        : await openApiServer({kubeconfig: file, config: config.values, context: this.context});
    for (const {field, reason} of [...config.unsupported, ...config.ignored])
      this.out.print(`${field} has no effect: ${reason}`);
    const {checkNodeConfig} = await import('../kubelet/index.js');
    for (const error of checkNodeConfig(config.values, this.settings.rootDir)) this.report.fail(error);
    await this.#checkManifests(config.values.staticPodPath, {nodeName, inCluster: file !== undefined});
  }

  /** Prints the version if the values of --version ask for it, and reports whether they do. */
  async #printVersion(values: readonly string[]): Promise<boolean> {
    const {KUBERNETES_VERSION} = await import('../kubelet/index.js');
    const {formatVersion, readVersionFlag} = await import('../features/kubelet/version-flag.js');
    const request = readVersionFlag(values, KUBERNETES_VERSION);
    if (request.output !== undefined) this.out.print(formatVersion(request));
    return request.output !== undefined;
  }

  /** Reports the problems of the manifests below a path; invalid ones fail the command. */
  async #checkManifests(
    path: string,
    {nodeName, inCluster}: {readonly nodeName: string; readonly inCluster: boolean},
  ): Promise<void> {
    if (path === '') return;
    const {checkManifests, formatManifestProblem} = await import('../kubelet/index.js');
    const {context, report, signal} = this;
    const options = {nodeName, clock: context.clock, inCluster, signal};
    for (const problem of await checkManifests(path, options)) {
      const text = formatManifestProblem(problem);
      if (problem.level === 'warning') report.warn(text);
      else report.fail(new ConfigError(text));
    }
  }
}
