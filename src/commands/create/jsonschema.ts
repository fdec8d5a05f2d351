import {BaseCommand} from '../../cli/command/base-command.js';
import {
  CONTAINER_SCHEMA_DESCRIPTION,
  CONTAINER_SCHEMA_FLAGS,
  CONTAINER_SCHEMA_SUMMARY,
} from '../../features/cri-configs/schema-flags.js';
import {printContainerSchemas} from '../../features/cri-configs/print-schema.js';

export default class CreateJsonschema extends BaseCommand {
  static override nodes = 'none' as const;
  static override summary = CONTAINER_SCHEMA_SUMMARY;
  static override description = CONTAINER_SCHEMA_DESCRIPTION;
  static override usage = 'create jsonschema [FLAGS]';
  static override examples = [
    '<%= config.bin %> create jsonschema > container-config.schema.json',
    '<%= config.bin %> create jsonschema --pod > pod-config.schema.json',
  ];
  static override flags = CONTAINER_SCHEMA_FLAGS;

  async run(): Promise<void> {
    const {flags} = await this.parse(CreateJsonschema);
    await printContainerSchemas(this.services, flags);
  }
}
