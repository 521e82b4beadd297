/**
 * The GraphQL type of an enum of the database. Labels that are not valid names are not among its values, because clients could not load the
 * schema, but it takes them: in variables (`request/read-scalar.ts`), and in the place of strings, which no parser but lenient coercion puts
 * there.
 */
import { GraphQLEnumType, Kind } from 'graphql';
import { isEnumValueName } from '../model/names.ts';

export class DatabaseEnumType extends GraphQLEnumType {
  /** All values that it takes, in declared order. */
  readonly accepted: ReadonlySet<string>;

  constructor(name: string, description: string | null, accepted: readonly string[]) {
    super({ name, description, values: Object.fromEntries(accepted.filter(isEnumValueName).map((value) => [value, {}])) });
    this.accepted = new Set(accepted);
  }

  override coerceInputLiteral(node: Parameters<GraphQLEnumType['coerceInputLiteral']>[0], hideSuggestions?: boolean): unknown {
    return node.kind === Kind.ENUM && this.accepted.has(node.value) ? node.value : super.coerceInputLiteral(node, hideSuggestions);
  }
}
