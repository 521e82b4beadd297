/**
 * The GraphQL type of an enum of the database. Labels that are not valid names are not among its values, because clients could not load the
 * schema, but it takes them: in variables (`request/read-scalar.ts`), and in the place of strings, which no parser but lenient coercion puts
 * there. PostgreSQL checks them.
 */
import { GraphQLEnumType, Kind } from 'graphql';
import { isEnumValueName } from '../model/names.ts';

export class DatabaseEnumType extends GraphQLEnumType {
  override coerceInputLiteral(node: Parameters<GraphQLEnumType['coerceInputLiteral']>[0], hideSuggestions?: boolean): unknown {
    return node.kind === Kind.ENUM && !isEnumValueName(node.value) ? node.value : super.coerceInputLiteral(node, hideSuggestions);
  }
}
