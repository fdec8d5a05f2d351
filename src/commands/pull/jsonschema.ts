import {SchemaCommand} from '../../cli/schema-command.js';

export default class PullJsonschema extends SchemaCommand {
  static override summary = "Show the pod config's JSON schema";
  static override usage = 'pull jsonschema';
  static override examples = [
    '<%= config.bin %> pull jsonschema > pod-config.schema.json',
    '<%= config.bin %> pull jsonschema | jq \'.["$defs"].PodSandboxConfig.properties | keys\'',
  ];

  async run(): Promise<void> {
    await this.parse(PullJsonschema);
    this.printSchema('PodSandboxConfig');
  }
}
