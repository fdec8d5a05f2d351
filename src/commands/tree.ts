import {BaseCommand} from '../cli/command/base-command.js';
import {TARGET_ARGS, TARGET_FLAGS} from '../features/targets/target-flags.js';
import {
  formatSorted,
  NO_HEADERS_FLAG,
  outputFlags,
  parseOutputFormat,
} from '../cli/output/parse-output-format.js';
import {readTargets} from '../features/targets/read-targets.js';
import {readTree} from '../features/tree/read-tree.js';
import type {Json} from '../format/json.js';

const FORMATS = ['table', 'json', 'yaml'] as const;

export default class Tree extends BaseCommand {
  static override nodes = 'local' as const;
  static override summary = 'Show pods with their sandboxes, containers and processes';
  static override description =
    'Shows the pods of every manager. Of each process: PID, user of this machine, CPU time, resident memory and command ' +
    'line. Processes are found by their cgroups, so that those of another machine or PID namespace are not shown.';
  static override usage = 'tree [TARGET...] [FLAGS]';
  static override examples = [
    '<%= config.bin %> tree',
    '<%= config.bin %> tree web',
    "<%= config.bin %> tree -o jsonpath='{.pods[*].sandboxes[*].containers[*].processes[*].pid}'",
  ];
  static override args = TARGET_ARGS;
  static override flags = {...TARGET_FLAGS, ...NO_HEADERS_FLAG, ...outputFlags(FORMATS)};

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Tree);
    const {out, report, services} = this;
    const words = args.target ?? [];
    const form = await parseOutputFormat(flags, FORMATS, services);
    const {reader, targets} = await readTargets(services, words, flags, {
      onMissing: report.fail,
      acceptsAll: true,
    });
    if (reader.runtimeFailure !== undefined) throw reader.runtimeFailure;
    const {pods, notes} = await readTree(services, targets);
    if (form.kind === 'table') {
      const [{Chalk}, {glyphsOf}, {formatPodTree}] = await Promise.all([
        import('chalk'),
        import('../cli/output/terminal-features.js'),
        import('../features/tree/tree-text.js'),
      ]);
      const chalk = new Chalk({level: out.colors ? 1 : 0});
      const lines = formatPodTree(pods, {
        chalk,
        glyphs: glyphsOf(services.context.env),
        columns: out.stdout.columns ?? Infinity,
      });
      for (const line of lines) out.stdout.write(`${line}\n`);
      if (pods.length === 0 && words.length === 0) report.info('No resources found');
    } else {
      const data = JSON.parse(JSON.stringify({pods})) as Json;
      out.printData((await formatSorted(form, data)).replace(/\n\n$/, '\n'));
    }
    for (const note of notes) report.info(`kcri: note: ${note}`);
  }
}
