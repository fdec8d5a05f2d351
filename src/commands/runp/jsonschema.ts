import {BaseCommand} from '../../cli/command/base-command.js';
import {printSchema} from '../../features/cri-configs/print-schema.js';

export default class RunpJsonschema extends BaseCommand {
  static override nodes = 'none' as const;
  static override summary = 'Print the JSON schema of the pod config';
  static override usage = 'runp jsonschema';
  static override examples = [
    '<%= config.bin %> runp jsonschema > pod-config.schema.json',
    '<%= config.bin %> runp jsonschema | jq \'.["$defs"].PodSandboxConfig.properties | keys\'',
  ];

  async run(): Promise<void> {
    await this.parse(RunpJsonschema);
    await printSchema(this.services, 'PodSandboxConfig');
  }
}
