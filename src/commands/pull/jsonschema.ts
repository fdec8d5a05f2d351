import {BaseCommand} from '../../cli/command/base-command.js';
import {printSchema} from '../../features/cri-configs/print-schema.js';

export default class PullJsonschema extends BaseCommand {
  static override nodes = 'none' as const;
  static override summary = 'Print the JSON schema of the pod config';
  static override usage = 'pull jsonschema';
  static override examples = [
    '<%= config.bin %> pull jsonschema > pod-config.schema.json',
    '<%= config.bin %> pull jsonschema | jq \'.["$defs"].PodSandboxConfig.properties | keys\'',
  ];

  async run(): Promise<void> {
    await this.parse(PullJsonschema);
    await printSchema(this.services, 'PodSandboxConfig');
  }
}
