import {SchemaCommand} from '../../cli/schema-command.js';

export default class RunpJsonschema extends SchemaCommand {
  static override summary = "Show the pod config's JSON schema";
  static override usage = 'runp jsonschema';
  static override examples = [
    '<%= config.bin %> runp jsonschema > pod-config.schema.json',
    '<%= config.bin %> runp jsonschema | jq \'.["$defs"].PodSandboxConfig.properties | keys\'',
  ];

  async run(): Promise<void> {
    await this.parse(RunpJsonschema);
    this.printSchema('PodSandboxConfig');
  }
}
