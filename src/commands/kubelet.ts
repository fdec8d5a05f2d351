import * as Flags from '@oclif/core/flags';
import {
  CLOUD_FLAGS,
  CONFIG_FLAGS,
  configFlagTexts,
  kubeconfigFlags,
} from '../features/kubelet/kubelet-flags.js';
import {checkKubeletFlags} from '../features/kubelet/as-kubelet.js';
import {IGNORED_FLAGS, listIgnoredFlags} from '../features/kubelet/ignored-flags.js';
import {CONTAINER_GC_FLAGS} from '../features/kubelet/container-gc-flags.js';
import {readKubeletConfigFiles} from '../features/kubelet/read-kubelet-config-files.js';
import {ConfigError} from '../base/errors.js';
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
    'docs/kubelet-config.md lists the supported fields. Unlike a kubelet, it rejects clients without credentials, runs ' +
    'on nodes with swap, and listens on loopback addresses by default unless it joins a cluster. Logs are written to ' +
    'standard error.';
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
      description: 'Drop-in directory; its *.conf files override --config in lexical order.',
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
    version: Flags.boolean({
      description: 'Print the version of Kubernetes that kcri corresponds to, and exit.',
    }),
    'print-unit': Flags.boolean({
      description: 'Print a systemd unit that runs the kubelet with these flags, and exit.',
    }),
  };

  async run(): Promise<void> {
    // As in the kubelet, words of a flag name may be joined by underscores.
    const argv = this.argv.map((word) =>
      word.replace(/^--[\w-]+/, (name) => name.replaceAll('_', '-')).replace(/^--version=raw$/, '--version'),
    );
    const {flags} = await this.parse(Kubelet, argv);
    if (flags.version) {
      await this.#printVersion();
      return;
    }
    if (this.context.calledAs === 'kubelet')
      for (const warning of checkKubeletFlags(flags)) this.out.writeMessage(`${warning}\n`);
    checkKubeletLabels(flags['node-labels']);
    const {readKubeletConfig} = await import('../kubelet/index.js');
    const ignoredFlags = listIgnoredFlags(flags);
    const kubeconfigs = kubeconfigFlags(flags);
    const readConfig = async (): Promise<KubeletConfig> =>
      readKubeletConfig(
        await readKubeletConfigFiles(flags.config, flags['config-dir'], this.signal),
        configFlagTexts(flags),
        kubeconfigs.kubeconfig !== undefined,
      );
    const config = await readConfig();
    const {readKubeletNodeFlags} = await import('../features/kubelet/kubelet-node-flags.js');
    const node = readKubeletNodeFlags(flags);
    if (flags['print-unit']) {
      const {formatSystemdUnit} = await import('../features/kubelet/systemd-unit.js');
      const {env, program} = this.context;
      this.out.printText(formatSystemdUnit({program, argv: this.argv, directory: process.cwd(), env}));
      return;
    }
    if (flags['check-config']) {
      const {openApiServer} = await import('../features/kubelet/open-cluster.js');
      const {kubeconfig, bootstrapKubeconfig} = kubeconfigs;
      // The kubeconfig may not exist yet.
      const file = bootstrapKubeconfig ?? kubeconfig;
      using _ =
        file === undefined
          ? undefined
          : await openApiServer({kubeconfig: file, config: config.values, context: this.context});
      for (const {field, reason} of [...config.unsupported, ...config.ignored])
        this.out.print(`${field} has no effect: ${reason}`);
      await this.#checkManifests(config.values.staticPodPath, {
        nodeName: node.nodeName,
        inCluster: file !== undefined,
      });
      return;
    }
    const {runKubelet} = await import('../features/kubelet/run-kubelet.js');
    const {createRunKubeletOptions} = await import('../features/kubelet/run-kubelet-options.js');
    await runKubelet(
      createRunKubeletOptions(this.services, flags, {
        config,
        readConfig,
        ignoredFlags,
        ...node,
        ...kubeconfigs,
      }),
    );
  }

  async #printVersion(): Promise<void> {
    const {KUBERNETES_VERSION} = await import('../kubelet/index.js');
    this.out.print(`Kubernetes ${KUBERNETES_VERSION}`);
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
