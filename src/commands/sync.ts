import * as Flags from '@oclif/core/flags';
import {UsageError} from '../base/errors.js';
import {BaseCommand} from '../cli/command/base-command.js';
import {durationFlag} from '../cli/flags/flag-types.js';
import type {LiveDisplay} from '../cli/output/live-region.js';
import {wantsColor} from '../cli/output/output.js';
import {FILENAME_FLAG, PRUNE_FLAGS} from '../features/manifests/manifest-flags.js';
import {POD_FLAGS} from '../features/manifests/pod-flags.js';
import {minReadyOf} from '../features/sync/min-ready.js';
import {loadPods, type LoadedPods} from '../features/manifests/load-pods.js';
import {parsePruneScope, requireInScope} from '../features/sync/prune-scope.js';
import {runSync} from '../features/sync/run-sync.js';
import {chooseRenderer} from '../features/sync/view/choose-renderer.js';
import {LogFollower} from '../features/sync/view/log-follower.js';
import {formatPodTitle} from '../features/pods/pod-title.js';
import type {SyncTimelines} from '../features/timeline/sync-timelines.js';
import {podRef, type PodRef} from '../kubelet/index.js';
import {findPrivateEndpoint} from '../private-runtime/private-endpoint.js';

export default class Sync extends BaseCommand {
  static override summary = 'Apply Pod manifests and wait until they are ready';
  static override description =
    'Reads manifests of Pods and of workloads, such as Deployments and Jobs, from files, directories, ' +
    'URLs or standard input (-), makes the CRI calls that a ' +
    'kubelet makes for them, and waits. A changed manifest replaces its pod; an unchanged one has no ' +
    'effect.\n\nA container without a readiness or startup probe counts as ready when it has run for --min-ready. ' +
    'A pod that has finished is not run again, unless --replace is given.\n\nWithout --timeout, sync stops at the first failure and removes a pod that could not be ' +
    'started. With --timeout, failures are retried with the back-off of the kubelet until the time is ' +
    'up.\n\nExits with 0 on success, with 124 on a timeout and, with --wait=complete, with the exit code ' +
    'of the first container that failed.';
  static override usage = 'sync [FLAGS] FILE|DIR|URL|-...';
  static override strict = false;
  static override examples = [
    '<%= config.bin %> sync examples/web.yaml',
    '<%= config.bin %> sync job.yaml --wait=complete --logs --rm --junit=results.xml',
    '<%= config.bin %> sync pods/ --timeout=2m -o json',
  ];
  static override flags = {
    ...POD_FLAGS,
    ...FILENAME_FLAG,
    ...PRUNE_FLAGS,
    wait: Flags.custom<'ready' | 'complete'>({options: ['ready', 'complete'], default: 'ready'})({
      helpValue: 'CONDITION',
      description:
        'Wait until all containers are ready, or until all have completed: ready or complete. [default: ' +
        'ready]',
    }),
    timeout: durationFlag({
      helpValue: 'DURATION',
      description: 'Give up after this time, with exit code 124.',
    }),
    'min-ready': durationFlag({
      helpValue: 'DURATION',
      description:
        'Time that a container without a readiness or startup probe must run before it counts as ready. ' +
        '[env: KCRI_MIN_READY] [default: 1s]',
    }),
    replace: Flags.boolean({
      description: 'Delete the pods first if they exist, running or finished, and run them again.',
    }),
    logs: Flags.boolean({description: 'Print the container logs while waiting.'}),
    rm: Flags.boolean({description: 'Delete the pods on exit, whatever the result.'}),
    timeline: Flags.boolean({
      description: 'Print to standard error how long each phase of the pods took, as "kcri timeline" does.',
    }),
    'print-unit': Flags.boolean({
      description:
        'Print a systemd unit that runs this sync until the pods have completed, so that they keep their restart policies ' +
        'without a terminal, and exit.',
    }),
    junit: Flags.string({
      helpValue: 'FILE',
      description:
        'Write the results to this file as JUnit XML: a test suite for each pod, a test case for each ' +
        'container. "-" writes them to standard output, and the progress to standard error.',
    }),
    output: Flags.custom<'text' | 'json'>({options: ['text', 'json'], default: 'text'})({
      char: 'o',
      helpValue: 'FORMAT',
      description: 'Output format: text, or json for one JSON object per line. [default: text]',
    }),
  };

  async run(): Promise<void> {
    const {flags, argv} = await this.parse(Sync);
    const sources = [...(argv as string[]), ...(flags.filename ?? [])];
    if (sources.length === 0) throw new UsageError('no manifest specified');
    const {context, out, report, signal} = this;
    const {secrets} = this.services;
    const {clock} = context;
    const minReadyMs = minReadyOf(flags['min-ready'], context.env);
    const {junit} = flags;
    await this.#checkJunit(junit, flags.output);
    const prune = parsePruneScope(sources, flags);
    if (flags['print-unit']) {
      await this.#printUnit(sources);
      return;
    }
    const loaded = await loadPods(this.services, sources, flags);
    requireInScope(loaded, prune);
    if (flags.wait === 'complete') this.#warnAboutEndlessPods(loaded);
    const {runtime} = await this.cri();
    const output = junit === '-' ? out.stderr : out.stdout;
    const renderer = await chooseRenderer({
      format: flags.output,
      warnings: flags.timeout !== undefined,
      stdout: output,
      stderr: out.stderr,
      colors: wantsColor(context.env, output),
      env: context.env,
      clock,
    });
    out.writeAbove(renderer);
    const isExplained = flags.output !== 'json';
    const timelines = flags.timeline ? await this.#createTimelines() : undefined;
    const {exitCode, errors, unmet} = await runSync(loaded, {
      runtime,
      logs: flags.logs ? new LogFollower({runtime, clock, renderer, output, signal}) : undefined,
      wait: flags.wait,
      timeoutMs: flags.timeout,
      minReadyMs,
      replace: flags.replace,
      prune,
      junit: junit === undefined ? undefined : (xml) => this.#writeJunit(junit, xml, renderer),
      isPrivateRuntime: findPrivateEndpoint(this.settings.rootDir) === loaded.node.endpoint,
      remove: flags.rm,
      isExplained,
      renderer,
      mask: (text) => secrets.mask(text),
      hide: (texts) => {
        secrets.add(texts);
      },
      warn: report.warn,
      timelines,
      context,
    });
    report.setExitCode(exitCode);
    for (const error of errors) report.fail(error);
    await this.#explain(timelines, isExplained ? unmet : []);
  }

  /** Rejects with UsageError or SystemError if the results cannot be written, before anything is changed. */
  async #checkJunit(path: string | undefined, format: 'text' | 'json'): Promise<void> {
    if (path === undefined) return;
    if (path !== '-') {
      const {requireJunitPath} = await import('../features/sync/report/junit-file.js');
      await requireJunitPath(path);
    } else if (format === 'json')
      throw new UsageError('--junit=- and --output=json would both write to standard output', {
        hint: 'name a file',
      });
  }

  async #writeJunit(path: string, xml: string, display: LiveDisplay): Promise<void> {
    if (path === '-') {
      display.writeAbove(() => {
        this.out.printText(xml);
      });
      return;
    }
    const {writeJunit} = await import('../features/sync/report/junit-file.js');
    await writeJunit(path, xml);
  }

  /** Prints how long the phases took, if requested, and why pods have not met the wait condition. */
  async #explain(timelines: SyncTimelines | undefined, unmet: readonly PodRef[]): Promise<void> {
    const mask = (text: string): string => this.services.secrets.mask(text);
    await timelines?.print(this.services, mask);
    if (unmet.length === 0) return;
    const {explainPods} = await import('../features/why/explain-pods.js');
    await explainPods(this.services, unmet, mask);
  }

  async #createTimelines(): Promise<SyncTimelines> {
    const {SyncTimelines} = await import('../features/timeline/sync-timelines.js');
    return new SyncTimelines(this.context.clock);
  }

  async #printUnit(sources: readonly string[]): Promise<void> {
    if (sources.includes('-'))
      throw new UsageError('--print-unit requires files, directories or URLs: a unit has no standard input');
    const {formatSyncUnit} = await import('../features/kubelet/systemd/systemd-unit.js');
    const {env, program} = this.context;
    this.out.printText(formatSyncUnit({program, argv: this.argv, directory: process.cwd(), env}));
  }

  /** Warns about pods that never complete: the API's default is Always, which is easily forgotten. */
  #warnAboutEndlessPods({pods}: LoadedPods): void {
    for (const {pod} of pods) {
      const {containers, restartPolicy} = pod.spec;
      if (containers.some((container) => (container.restartPolicy ?? restartPolicy) === 'Always'))
        this.report.warn(
          `pod "${formatPodTitle(podRef(pod))}" never completes: its restartPolicy is Always; set it to OnFailure or Never`,
        );
    }
  }
}
