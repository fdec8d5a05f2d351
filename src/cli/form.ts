import type {Json} from '../format/json.js';

/** The forms in which data is printed, besides templates. */
export type Format = 'table' | 'wide' | 'name' | 'json' | 'yaml';

/** A form that was chosen: one of a command's own, or a template that prints any object. */
export type Form<F extends Format> = Kind<F> | TemplateForm;

/** One member a form, so that a comparison tells them apart. */
type Kind<F extends Format> = F extends Format ? {readonly kind: F; readonly compat?: boolean} : never;

/** A template that was read. Rendering throws TemplateError when it does not fit the data. */
export interface TemplateForm {
  readonly kind: 'template';
  readonly compat?: boolean;
  readonly render: (json: Json) => string;
}

/** A form that prints any object. */
export type ObjectForm = Form<'json' | 'yaml'>;

/** The flags that choose a form. */
export interface FormFlags {
  readonly output?: string | undefined;
  readonly template?: string | undefined;
}
