select pg_catalog.concat('{"__typename":"ActConnection","pageInfo":{"__typename":"PageInfo","hasPreviousPage":', 'false', '}}');
