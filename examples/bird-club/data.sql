-- The data of the bird club: birds as they are, people and places invented, sightings derived by arithmetic, so that every run has the same.

insert into taxon (rank, name, common_name) values
  ('order', 'Anseriformes', 'Waterfowl'),
  ('order', 'Charadriiformes', 'Waders, gulls and auks'),
  ('order', 'Pelecaniformes', 'Herons and allies'),
  ('order', 'Accipitriformes', 'Hawks and allies'),
  ('order', 'Falconiformes', 'Falcons'),
  ('order', 'Strigiformes', 'Owls'),
  ('order', 'Coraciiformes', 'Kingfishers and allies'),
  ('order', 'Columbiformes', 'Pigeons'),
  ('order', 'Passeriformes', 'Songbirds');

insert into taxon (parent_id, rank, name, common_name)
select parent.id, 'family', family.name, family.common_name
from (values
  ('Anseriformes', 'Anatidae', 'Ducks, geese and swans'),
  ('Charadriiformes', 'Haematopodidae', 'Oystercatchers'),
  ('Charadriiformes', 'Charadriidae', 'Plovers'),
  ('Charadriiformes', 'Scolopacidae', 'Sandpipers'),
  ('Charadriiformes', 'Laridae', 'Gulls and terns'),
  ('Charadriiformes', 'Alcidae', 'Auks'),
  ('Pelecaniformes', 'Ardeidae', 'Herons'),
  ('Pelecaniformes', 'Threskiornithidae', 'Ibises and spoonbills'),
  ('Accipitriformes', 'Accipitridae', 'Hawks and eagles'),
  ('Accipitriformes', 'Pandionidae', 'Osprey'),
  ('Falconiformes', 'Falconidae', 'Falcons'),
  ('Strigiformes', 'Strigidae', 'Owls'),
  ('Strigiformes', 'Tytonidae', 'Barn owls'),
  ('Coraciiformes', 'Alcedinidae', 'Kingfishers'),
  ('Columbiformes', 'Columbidae', 'Pigeons and doves'),
  ('Passeriformes', 'Turdidae', 'Thrushes'),
  ('Passeriformes', 'Muscicapidae', 'Flycatchers and chats'),
  ('Passeriformes', 'Paridae', 'Tits'),
  ('Passeriformes', 'Corvidae', 'Crows'),
  ('Passeriformes', 'Hirundinidae', 'Swallows'),
  ('Passeriformes', 'Cinclidae', 'Dippers')
) as family (parent, name, common_name)
join taxon as parent on parent.name = family.parent
order by family.name;

insert into species (taxon_id, code, name, scientific_name, status, wingspan_cm, mass_g, habitats)
select taxon.id, bird.code, bird.name, bird.scientific_name, bird.status::conservation_status, bird.wingspan_cm, bird.mass_g,
  bird.habitats::text[]
from (values
  ('Anatidae', 'ANAPLA', 'Mallard', 'Anas platyrhynchos', 'least concern', 90, 1100, '{lake,river,marsh}'),
  ('Anatidae', 'ANACRE', 'Eurasian Teal', 'Anas crecca', 'least concern', 61, 330, '{lake,marsh}'),
  ('Anatidae', 'AYTFER', 'Common Pochard', 'Aythya ferina', 'vulnerable', 77, 930, '{lake}'),
  ('Anatidae', 'CYGOLO', 'Mute Swan', 'Cygnus olor', 'least concern', 223, 10500, '{lake,river}'),
  ('Anatidae', 'ANSANS', 'Greylag Goose', 'Anser anser', 'least concern', 164, 3300, '{lake,marsh,meadow}'),
  ('Anatidae', 'BRABER', 'Brant Goose', 'Branta bernicla', 'least concern', 115, 1400, '{coast,mudflat}'),
  ('Haematopodidae', 'HAEOST', 'Eurasian Oystercatcher', 'Haematopus ostralegus', 'near threatened', 83, 540, '{coast,mudflat}'),
  ('Charadriidae', 'VANVAN', 'Northern Lapwing', 'Vanellus vanellus', 'near threatened', 84, 220, '{meadow,marsh}'),
  ('Charadriidae', 'CHAHIA', 'Common Ringed Plover', 'Charadrius hiaticula', 'least concern', 52, 64, '{coast,mudflat}'),
  ('Scolopacidae', 'NUMARQ', 'Eurasian Curlew', 'Numenius arquata', 'near threatened', 90, 770, '{mudflat,meadow}'),
  ('Scolopacidae', 'LIMLIM', 'Black-tailed Godwit', 'Limosa limosa', 'near threatened', 76, 300, '{meadow,marsh}'),
  ('Scolopacidae', 'GALGAL', 'Common Snipe', 'Gallinago gallinago', 'least concern', 45, 110, '{marsh}'),
  ('Scolopacidae', 'TRITOT', 'Common Redshank', 'Tringa totanus', 'least concern', 62, 120, '{mudflat,marsh}'),
  ('Laridae', 'CHRRID', 'Black-headed Gull', 'Chroicocephalus ridibundus', 'least concern', 105, 280, '{lake,coast,meadow}'),
  ('Laridae', 'RISTRI', 'Black-legged Kittiwake', 'Rissa tridactyla', 'vulnerable', 108, 390, '{coast,cliff}'),
  ('Laridae', 'STEPAR', 'Arctic Tern', 'Sterna paradisaea', 'least concern', 80, 105, '{coast}'),
  ('Alcidae', 'FRAARC', 'Atlantic Puffin', 'Fratercula arctica', 'vulnerable', 55, 400, '{coast,cliff}'),
  ('Alcidae', 'ALCTOR', 'Razorbill', 'Alca torda', 'least concern', 66, 630, '{coast,cliff}'),
  ('Ardeidae', 'ARDCIN', 'Grey Heron', 'Ardea cinerea', 'least concern', 185, 1500, '{lake,river,marsh}'),
  ('Ardeidae', 'EGRGAR', 'Little Egret', 'Egretta garzetta', 'least concern', 95, 450, '{lake,mudflat}'),
  ('Ardeidae', 'BOTSTE', 'Eurasian Bittern', 'Botaurus stellaris', 'least concern', 130, 1200, '{reedbed}'),
  ('Threskiornithidae', 'PLALEU', 'Eurasian Spoonbill', 'Platalea leucorodia', 'least concern', 125, 1700, '{mudflat,marsh}'),
  ('Accipitridae', 'CIRAER', 'Western Marsh Harrier', 'Circus aeruginosus', 'least concern', 123, 600, '{reedbed,marsh}'),
  ('Accipitridae', 'BUTBUT', 'Common Buzzard', 'Buteo buteo', 'least concern', 121, 850, '{forest,meadow}'),
  ('Accipitridae', 'HALALB', 'White-tailed Eagle', 'Haliaeetus albicilla', 'least concern', 220, 4800, '{lake,coast}'),
  ('Pandionidae', 'PANHAL', 'Osprey', 'Pandion haliaetus', 'least concern', 158, 1500, '{lake,river}'),
  ('Falconidae', 'FALPER', 'Peregrine Falcon', 'Falco peregrinus', 'least concern', 103, 800, '{cliff,coast}'),
  ('Falconidae', 'FALTIN', 'Common Kestrel', 'Falco tinnunculus', 'least concern', 75, 190, '{meadow}'),
  ('Strigidae', 'STRALU', 'Tawny Owl', 'Strix aluco', 'least concern', 99, 480, '{forest}'),
  ('Strigidae', 'ASIFLA', 'Short-eared Owl', 'Asio flammeus', 'least concern', 102, 330, '{meadow,marsh}'),
  ('Tytonidae', 'TYTALB', 'Barn Owl', 'Tyto alba', 'least concern', 89, 330, '{meadow}'),
  ('Alcedinidae', 'ALCATT', 'Common Kingfisher', 'Alcedo atthis', 'least concern', 25, 36.5, '{river,lake}'),
  ('Columbidae', 'STRTUR', 'European Turtle Dove', 'Streptopelia turtur', 'vulnerable', 50, 140, '{forest,meadow}'),
  ('Turdidae', 'TURMER', 'Common Blackbird', 'Turdus merula', 'least concern', 36, 100, '{forest,garden}'),
  ('Turdidae', 'TURPHI', 'Song Thrush', 'Turdus philomelos', 'least concern', 34, 75, '{forest,garden}'),
  ('Muscicapidae', 'ERIRUB', 'European Robin', 'Erithacus rubecula', 'least concern', 21, 18.5, '{forest,garden}'),
  ('Muscicapidae', 'LUSMEG', 'Common Nightingale', 'Luscinia megarhynchos', 'least concern', 24, 21, '{forest}'),
  ('Paridae', 'PARMAJ', 'Great Tit', 'Parus major', 'least concern', 24, 18, '{forest,garden}'),
  ('Paridae', 'CYACAE', 'Eurasian Blue Tit', 'Cyanistes caeruleus', 'least concern', 18, 11, '{forest,garden}'),
  ('Corvidae', 'CORCOX', 'Common Raven', 'Corvus corax', 'least concern', 130, 1200, '{cliff,forest}'),
  ('Hirundinidae', 'HIRRUS', 'Barn Swallow', 'Hirundo rustica', 'least concern', 33, 19, '{meadow,lake}'),
  ('Cinclidae', 'CINCIN', 'White-throated Dipper', 'Cinclus cinclus', 'least concern', 28, 62, '{river}')
) as bird (family, code, name, scientific_name, status, wingspan_cm, mass_g, habitats)
join taxon on taxon.name = bird.family
order by bird.name;

insert into site (name, area_ha, latitude, longitude, opened_on, facilities) values
  ('Alder Carr', 84.50, 53.1021, 10.2044, '1987-05-16', '{"parking": 40, "toilets": true, "paths": ["boardwalk"]}'),
  ('Gannet Head', 31.25, 53.9407, 8.5312, '1994-04-02', '{"parking": 15, "toilets": false, "paths": ["cliff"]}'),
  ('Harrow Mere', 212.00, 53.2290, 10.7716, '1979-09-01', '{"parking": 80, "toilets": true, "paths": ["round", "boardwalk"], "cafe": {"open": "weekends"}}'),
  ('Long Reeds', 145.75, 53.0158, 9.8803, '2003-03-21', '{"parking": 25, "toilets": true, "paths": ["dyke"]}'),
  ('Millrace', 12.40, 52.9544, 10.1187, null, '{"parking": 0, "toilets": false, "paths": ["river"]}'),
  ('Old Orchard', 6.80, 53.0872, 10.0325, '2016-10-08', '{"parking": 10, "toilets": true, "paths": []}'),
  ('Saltings', 530.00, 53.8816, 8.7169, '1982-06-12', '{"parking": 60, "toilets": true, "paths": ["dyke", "mudflat"], "tides": true}'),
  ('Wolf Wood', 318.20, 53.1589, 9.9930, '1991-11-30', '{"parking": 30, "toilets": false, "paths": ["ridge", "stream"]}');

insert into hide (site_id, number, name, seats, accessible)
select site.id, hide.number, hide.name, hide.seats, hide.accessible
from (values
  ('Alder Carr', 1, 'Boardwalk Hide', 12, true),
  ('Alder Carr', 2, 'Willow Screen', 4, false),
  ('Gannet Head', 1, 'Cliff Box', 6, false),
  ('Harrow Mere', 1, 'North Hide', 20, true),
  ('Harrow Mere', 2, 'Island Hide', 14, true),
  ('Harrow Mere', 3, 'Tower', 8, false),
  ('Long Reeds', 1, 'Dyke Hide', 10, true),
  ('Long Reeds', 2, 'Bittern Hide', 6, false),
  ('Saltings', 1, 'Tide Hide', 16, true),
  ('Saltings', 2, 'Wader Screen', 5, false)
) as hide (site, number, name, seats, accessible)
join site on site.name = hide.site;

insert into member (id, name, joined_on)
select format('00000000-0000-4000-8000-%s', lpad(number::text, 12, '0'))::uuid, name, date '2014-02-01' + 211 * number::integer
from unnest(array[
  'Ada Brandt', 'Bela Kovacs', 'Carla Moreno', 'Dirk Jansen', 'Elif Demir', 'Finn Olsen', 'Greta Lind', 'Hugo Weiss', 'Ines Duarte',
  'Jonas Petit', 'Kaya Nowak', 'Liam Byrne', 'Mira Sato', 'Nils Holm'
]) with ordinality as member (name, number);

insert into member_profile (member_id, email, newsletter, favourite_species_id)
select member.id, lower(split_part(member.name, ' ', 1)) || '@birdclub.example', number % 3 <> 0, species.id
from (select *, row_number() over (order by id) as number from member) as member
left join species on species.id = number * 3 and number % 5 <> 0;

insert into outing (site_id, leader_id, title, starts_at, weather)
select site.id, format('00000000-0000-4000-8000-%s', lpad((1 + number * 5 % 14)::text, 12, '0'))::uuid,
  (array['Winter geese', 'Owls before dawn', 'First arrivals', 'Dawn chorus', 'Dawn chorus', 'Nests and young', 'Terns and waders',
    'Waders at high tide', 'Autumn passage', 'Autumn passage', 'Starling hour', 'Winter geese'])[extract(month from starts_at)]
    || ' at ' || site.name,
  starts_at,
  case when number % 7 <> 0 then
    jsonb_build_object('sky', (array['clear', 'cloudy', 'rain', 'fog'])[1 + number % 4], 'celsius', number * 7 % 23, 'wind', number % 6)
  end
from (
  select number, timestamptz '2025-03-02 05:30+00' + number * interval '15 days' + number % 4 * interval '2 hours' as starts_at
  from generate_series(1, 28) as number
) as planned
join site on site.id = 1 + number * 3 % 8
order by number;

insert into outing_member (outing_id, member_id, drives)
select outing.id, member.id, (outing.id + number) % 4 = 0
from outing
join (select id, row_number() over (order by id) as number from member) as member on (outing.id * 3 + number * 5) % 7 < 3;

-- Birds are seen where they live: each site has its habitats.
insert into sighting (species_id, site_id, hide_number, member_id, outing_id, seen_at, birds, behaviours, notes, details, is_private)
select seen.species_id, seen.site_id, hide.number,
  format('00000000-0000-4000-8000-%s', lpad((1 + seen.number * 11 % 14)::text, 12, '0'))::uuid,
  case when seen.number % 3 = 0 then outing.id end,
  coalesce(case when seen.number % 3 = 0 then outing.starts_at + seen.number % 9 * interval '17 minutes' end,
    timestamptz '2025-03-01 04:00+00' + seen.number * interval '31 hours' + seen.number % 13 * interval '53 minutes'),
  1 + seen.number * 7 % 11 * (seen.number % 4),
  case seen.number % 5
    when 0 then '{feeding}' when 1 then '{singing,displaying}' when 2 then '{}' when 3 then '{migrating}' else '{nesting,feeding}'
  end::behaviour[],
  case seen.number % 6
    when 0 then 'Close to the path, undisturbed.' when 1 then 'Heard first, then seen well.' when 3 then 'Chased off by crows.'
  end,
  case when seen.number % 4 = 0 then jsonb_build_object('distance_m', seen.number * 13 % 200, 'photo', seen.number % 8 = 0) end,
  seen.number % 17 = 0
from (
  select row_number() over (order by (species.id * 31 + site.id * 17 + turn * 7) % 101, species.id, site.id, turn) as number,
    species.id as species_id, site.id as site_id
  from (values
    ('Alder Carr', '{marsh,forest,river}'), ('Gannet Head', '{cliff}'), ('Harrow Mere', '{lake,reedbed}'), ('Long Reeds', '{reedbed,marsh}'),
    ('Millrace', '{river}'), ('Old Orchard', '{garden}'), ('Saltings', '{mudflat}'), ('Wolf Wood', '{forest}')
  ) as place (site, habitats)
  join site on site.name = place.site
  join species on species.habitats && place.habitats::text[]
  cross join generate_series(1, 4) as turn
) as seen
left join hide on hide.site_id = seen.site_id and hide.number = seen.number % 4
left join lateral (
  select id, starts_at from outing where outing.site_id = seen.site_id order by (id * 7 + seen.number) % 5, id limit 1
) as outing on true
order by seen.number;
