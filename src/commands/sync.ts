import * as Flags from '@oclif/core/flags';
import {UsageError} from '../base/errors.js';
import {durationFlag} from '../cli/flags.js';
import {PodCommand, type LoadedPods} from '../cli/pod-command.js';
import {POD_FLAGS} from '../cli/pod-flags.js';
import {LogFollower} from '../cli/sync-view/log-follower.js';
import {chooseRenderer} from '../cli/sync-view/choose.js';
import {podTitle} from '../cli/sync-view/text.js';
import {runSync} from '../cli/sync-session.js';
import {podRef} from '../kubelet/index.js';

export default class Sync extends PodCommand {
  static override summary = 'Bring Pods to what their manifests say, and wait for them';
  static override description =
    'Reads Pod manifests (files, directories, or - for standard input), makes the same CRI calls for them as a ' +
    'kubelet, and waits. A changed manifest replaces the pod; an unchanged one changes nothing. Without --timeout ' +
    'the first failure ends the sync and a pod that could not be started is removed again; with it failures are ' +
    "retried with the kubelet's back-off until the time is up. The exit code is 0, with --wait complete that of the " +
    'first container that failed, 124 when the time is up.';
  static override usage = 'sync [OPTIONS] FILE|DIR|-...';
  static override strict = false;
  static override examples = [
    '<%= config.bin %> sync examples/web.yaml',
    '<%= config.bin %> sync job.yaml --wait complete --logs --rm',
    '<%= config.bin %> sync pods/ --timeout 2m -o json',
  ];
  static override flags = {
    ...POD_FLAGS,
    wait: Flags.custom<'ready' | 'complete'>({options: ['ready', 'complete'], default: 'ready'})({
      description: 'Wait until every container runs and is ready, or until all have ended.',
    }),
    timeout: durationFlag({
      helpValue: 'DURATION',
      description: 'Give up after this time, with exit code 124.',
    }),
    logs: Flags.boolean({description: "Show the containers' logs while waiting."}),
    rm: Flags.boolean({description: 'Delete the pods when the sync ends, however it ends.'}),
    output: Flags.custom<'text' | 'json'>({options: ['text', 'json'], default: 'text'})({
      char: 'o',
      description: 'text, or json for one JSON object a line.',
    }),
  };

  async run(): Promise<void> {
    const {flags, argv} = await this.parse(Sync);
    if (argv.length === 0) throw new UsageError('no manifest is given');
    const loaded = await this.loadPods(argv as string[], flags);
    if (flags.wait === 'complete') this.#warnOfEndless(loaded);
    const {stdout, stderr, colors, context, signal} = this;
    const {runtime} = await this.cri();
    const renderer = await chooseRenderer({
      format: flags.output,
      warnings: flags.timeout !== undefined,
      stdout,
      stderr,
      colors,
      clock: context.clock,
    });
    this.tellBeside(renderer);
    const {exitCode, errors} = await runSync(loaded, {
      logs: flags.logs
        ? new LogFollower({runtime, clock: context.clock, renderer, output: stdout, signal})
        : undefined,
      wait: flags.wait,
      timeoutMs: flags.timeout,
      remove: flags.rm,
      renderer,
      mask: (text) => this.masked(text),
      hide: (texts) => {
        this.hide(texts);
      },
      context,
    });
    this.exitWith(exitCode);
    for (const error of errors) this.fail(error);
  }

  /** The API's default is Always, which is easily forgotten. */
  #warnOfEndless({pods}: LoadedPods): void {
    for (const {pod} of pods) {
      const {containers, restartPolicy} = pod.spec;
      if (containers.some((container) => (container.restartPolicy ?? restartPolicy) === 'Always'))
        this.warn(
          `pod "${podTitle(podRef(pod))}" never completes: its restartPolicy is Always; set it to OnFailure or Never`,
        );
    }
  }
}
