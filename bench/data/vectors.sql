-- Loaded only where PostgreSQL has pgvector.
create extension vector;
create table passage (id int primary key, title text not null, embedding vector(256) not null);
insert into passage
select n, 'Passage ' || n, (
  select array_agg((hashint8extended(n * 1000 + place, 7) & 1023)::float4 / 1023 order by place) from generate_series(1, 256) place
)::vector
from generate_series(1, 20000) n;
create index on passage using hnsw (embedding vector_cosine_ops);
grant select on passage to anon, authenticated;
