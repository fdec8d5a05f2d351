import {ContainerSchemaCommand} from '../../cli/container-schema-command.js';

export default class CreateJsonschema extends ContainerSchemaCommand {
  static override usage = 'create jsonschema [OPTIONS]';
  static override examples = [
    '<%= config.bin %> create jsonschema > container-config.schema.json',
    '<%= config.bin %> create jsonschema --pod > pod-config.schema.json',
  ];
}
